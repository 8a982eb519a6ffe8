"""The options of a job as lines of `tarmac show`, made from the table in shared/job_options.py.

Each renderer takes the value, which is never absent, and the present time.
"""

from __future__ import annotations

from tarmac.cli.render.requests import origin_words
from tarmac.cli.render.text import counted, gpu_names, safe
from tarmac.shared.clocks import clock
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.signal_names import signal_name as name_of
from tarmac.shared.units import duration, size, typed_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tarmac.client.records import Job


def option_lines(job: Job, now: float) -> Iterator[tuple[str, str]]:
    """Label and text. Options with one label share a line; those left at their default have none."""
    lines: dict[str, list[str]] = {}
    for option in JOB_OPTIONS:
        if not option.label or not option.view:
            continue
        value = job.seconds(option.view) if option.type == "moment" else getattr(job, option.view)
        if value is not None and value not in ([], option.default):
            words = RENDERERS[option.render](value, now)
            lines.setdefault(option.label, []).append(f"{words}{origin_words((job.origins or {}).get(option.wire))}")
    for label, parts in lines.items():
        yield label, safe("; ".join(parts))


def text(value: object, _: float) -> str:
    return str(value)


def words(value: Sequence[str], _: float) -> str:
    return ", ".join(value)


def events(value: Sequence[str], _: float) -> str:
    return f"on {', '.join(value)}"


def gpu_memory(value: int, _: float) -> str:
    return f"{size(value)} of each GPU reserved"


def gpu_share(value: float, _: float) -> str:
    return f"{value:.0%} of each GPU reserved"


def gpu_models(value: Sequence[str], _: float) -> str:
    return " or ".join(value)


def min_gpu_memory(value: int, _: float) -> str:
    return f"{size(value)} of memory or more"


def node_count(value: int, _: float) -> str:
    return f"{value} at once, with this on each"


def gpus_on(value: Sequence[int | str], _: float) -> str:
    return gpu_names(value)


def exclude_gpus(value: Sequence[int | str], _: float) -> str:
    return f"not {gpu_names(value)}"


def only_nodes(value: Sequence[str], _: float) -> str:
    return safe(f"node {' or '.join(value)}")


def exclude_nodes(value: Sequence[str], _: float) -> str:
    return safe(f"not node {', '.join(value)}")


def idle_below(value: int, _: float) -> str:
    return f"less than {value:g}% busy"


def host_memory(value: int, _: float) -> str:
    return f"{size(value)} of memory reserved"


def cores(value: int, _: float) -> str:
    return f"{counted(value, 'core')} reserved"


def time_limit(value: float, _: float) -> str:
    return duration(value)


def grace(value: float, _: float) -> str:
    return f"{typed_duration(value)} between the stop signal and SIGKILL"


def begin(value: float, now: float) -> str:
    return f"not before {clock(value, now)}"


def fill(_value: object, _: float) -> str:
    return "placeholders in the command are filled in at the start"


def requeue(_value: object, _: float) -> str:
    return "at the time limit"


def warning(value: str, _: float) -> str:
    from tarmac.shared.end_warning import parse_warning

    signum, before_s, main_only = parse_warning(value)
    return f"{name_of(signum)} {typed_duration(before_s)} before the time limit{', to the main process' * main_only}"


def signal_name(value: int, _: float) -> str:
    return name_of(value)


RENDERERS: dict[str, Callable[..., str]] = {
    render.__name__: render
    for render in (
        text, words, node_count, gpu_memory, gpu_share, gpu_models, min_gpu_memory, gpus_on, exclude_gpus, idle_below,
        only_nodes, exclude_nodes, host_memory, cores, time_limit, grace, begin, fill, requeue, warning, signal_name,
        events,
    )
}  # fmt: skip
