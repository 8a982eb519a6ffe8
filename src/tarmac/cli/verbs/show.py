"""`tarmac show`: everything about a job, including why it waits and its history."""

from __future__ import annotations

from time import time

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, numbers_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.job import COLOURS, attempt_number, command_of, place_in_queue, progress, state_words, used
from tarmac.cli.render.job_options import option_lines
from tarmac.cli.render.text import cells, gpu_names, safe
from tarmac.cli.session import connect
from tarmac.cli.term.signals import signal_name
from tarmac.cli.term.terminal import has_colours, out, out_json, paint, width
from tarmac.shared.clocks import epoch, local
from tarmac.shared.units import duration, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client.records import Job, Leftovers, LeftProcess, StoryEvent

SENTENCES = ("message", "error", "hint", "stale", "warning", "why")
ENDED_BADLY = ("failed", "unknown")
LABELS = {
    "Decided": "scheduled",
    "JobsPaused": "paused",
    "JobsResumed": "resumed",
    "JobsRetried": "retried",
    "StopAsked": "stop requested",
    "LeftoversEnded": "left behind",
    "TreeGone": "processes ended",
}  # of events whose names are not what users call them


def run(values: Values, words: list[str]) -> int:
    client = connect()
    jobs = [client.job(job) for job in numbers_of(client, values, words)]
    if values["json"]:
        out_json([job.raw for job in jobs])
        return 0
    for index, job in enumerate(jobs):
        text = [*description(job), *_attempts(job), *story(client.story(job.id))]
        out(("\n" if index else "") + "\n".join(text) + "\n")
    return 0


def description(job: Job) -> list[str]:
    colours = has_colours()
    state = state_words(job)
    title = f"Job {job.id}" + (f"  {safe(job.name)}" if job.name else "")
    pairs = list(_facts(job))
    wide = max(len(name) for name, _ in pairs)
    lines = [paint(title, "bold") if colours else title]
    lines.append(f"  {_label('state', wide)}  {paint(state, COLOURS.get(job.state)) if colours else state}")
    before = "state"
    for name, value in pairs:
        first, *rest = folded(value, wide + 4, at_blanks=name in SENTENCES)
        if name == "warning" and colours:
            first, rest = paint(first, "yellow"), [paint(line, "yellow") for line in rest]
        lines.append(f"  {_label('' if name == before else name, wide)}  {first}")
        lines += [" " * (wide + 4) + line for line in rest]
        before = name
    return lines


def _attempts(job: Job) -> list[str]:
    """A table, if there are several, or if one failed and the next one waits."""
    from tarmac.cli.render.attempts import attempt_table

    table = attempt_table(job, width=None if width() is None else (width() or 0) - 2, has_colours=has_colours())
    title = paint("Attempts", "bold") if has_colours() else "Attempts"
    return [title, *[f"  {line}" for line in table]] if table else []


def _label(name: str, wide: int) -> str:
    return paint(name.ljust(wide), "dim") if has_colours() else name.ljust(wide)


def folded(text: str, indent: int, *, at_blanks: bool = False) -> list[str]:
    """Split to fit the terminal, `at_blanks` if words fit; one line if the output is not a terminal."""
    room = (width() or 0) - indent
    if room < 20 or cells(text) <= room:
        return [text]
    if not at_blanks:
        return _cut(text, room)
    *lines, line = [""]
    for word in text.split(" "):
        if not line or cells(line) + 1 + cells(word) <= room:
            line = f"{line} {word}" if line else word
        else:
            lines.append(line)
            line = word
        *full, line = _cut(line, room)
        lines += full
    return [*lines, line]


def _cut(text: str, room: int) -> list[str]:
    lines, line, left = [], "", room
    for char in text:
        left -= cells(char)
        if left < 0:
            lines.append(line)
            line, left = "", room - cells(char)
        line += char
    return [*lines, line]


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    yield from _news(job)
    yield "command", safe(command_of(job))
    yield "cwd", safe(job.cwd)
    yield "owner", safe(job.owner)
    yield "gpus", _gpus(job)
    yield from option_lines(job, time())
    for name, value in (("node", job.node), ("pid", job.pid)):
        if value is not None:
            yield name, safe(str(value))
    yield from place_in_queue(job)
    yield from _attempt(job)
    if job.oom_count:
        yield "out of memory", f"{job.oom_count} {'attempt' if job.oom_count == 1 else 'attempts'}"
    yield from _times(job)
    if words := used(job):
        yield "used", words
    if job.leftovers:
        yield "left behind", _left_behind(job.leftovers)
    yield from _outputs(job)


def _attempt(job: Job) -> Iterator[tuple[str, str]]:
    """As in `ls`: the next attempt, if the job waits for it."""
    number = attempt_number(job)
    if job.attempts_max is not None:
        yield "attempt", f"{number} of at most {job.attempts_max}"
    elif number > 1:
        yield "attempt", str(number)


def _news(job: Job) -> Iterator[tuple[str, str]]:
    """What most users look for first."""
    if job.message:
        yield "message", safe(job.message)
    if job.error_line:
        yield "error", safe(job.error_line)
    if job.reason not in {"exit", "signal"} and job.state in ENDED_BADLY:
        yield from _status(job)
    if job.hint:
        yield "hint", safe(job.hint)
    if job.stale_reason:
        yield "stale", safe(job.stale_reason)
    for line in job.warnings or ():
        yield "warning", safe(line)
    for line in job.why or ():
        yield "why", safe(line)


def _status(job: Job) -> Iterator[tuple[str, str]]:
    """The exit status, where the state names another reason."""
    if job.signal is not None:
        yield "exit", f"killed by {signal_name(job.signal)}"
    elif job.exit_code is not None:
        yield "exit", f"code {job.exit_code}"


def _gpus(job: Job) -> str:
    asked = str(job.gpus_asked)
    if not job.gpus:
        return asked
    return f"{asked} ({gpu_names([gpu['name'] for gpu in job.gpus])})"


def _times(job: Job) -> Iterator[tuple[str, str]]:
    submitted, started, ended = (job.raw[name] for name in ("submitted_at", "started_at", "ended_at"))
    yield "submitted", local(submitted)
    if started:
        yield "started", f"{local(started)}, after {duration(epoch(started) - epoch(submitted))}"
    elif job.raw.get("retry_at"):
        yield "retry", f"{local(job.raw['retry_at'])}; `tarmac retry {job.id}` starts it now"
    elif estimate := job.raw.get("estimated_start"):
        basis = f" based on {job.estimate_basis}" if job.estimate_basis else ""
        yield "starts", safe(f"~{local(estimate)}, an estimate{basis}")
    if ended:
        yield "ended", local(ended) + (f", ran {duration(job.elapsed_s)}" if job.elapsed_s is not None else "")
    elif job.elapsed_s is not None:
        yield ("ran" if job.state == "paused" else "running"), f"for {duration(job.elapsed_s)}"
    if job.state == "paused":
        yield "paused", _paused(job)
    elif job.pause_s:
        yield "paused", f"for {duration(job.pause_s)} in all"
    if job.progress and not ended:
        done, left = progress(job.progress)
        yield "progress", f"{done}, {left} left" if left else done


def _paused(job: Job) -> str:
    since, total = local(job.raw["paused_at"]), f", for {duration(job.pause_s)} in all"
    keeps = "; it keeps its GPUs" if job.gpus else ""
    return safe(f"since {since} by {job.paused_by}{total}{keeps}; `tarmac resume {job.id}` continues it")


def _left_behind(left: Leftovers) -> str:
    """`3 processes, ended by Tarmac: python loader.py (pid 12), … and 1 more`."""
    count, named = left["count"], left["processes"]
    words = ", ".join(_process(process) for process in named)
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    return f"{count:,} {'process' if count == 1 else 'processes'}, ended by Tarmac: {words}{more}"


def _process(process: LeftProcess) -> str:
    command = process["command"]
    return f"pid {process['pid']}" if command is None else safe(f"{command} (pid {process['pid']})")


def _outputs(job: Job) -> Iterator[tuple[str, str]]:
    stdout, stderr = job.stdout_path, job.stderr_path
    if job.adopted:
        yield "log", "none: the job was adopted, so its output is not redirected"
    elif stderr and stderr != stdout:
        yield "stdout", safe(stdout or "")
        yield "stderr", safe(stderr)
    else:
        yield "log", safe(job.log_path or "")


def story(events: list[StoryEvent]) -> list[str]:
    """The history of the job, one line per event."""
    if not events:
        return []
    kinds = [_spaced(event["kind"]) for event in events]
    wide = max(map(len, kinds))
    lines = [paint("History", "bold") if has_colours() else "History"]
    for event, kind in zip(events, kinds, strict=True):
        lines.append(f"  {local(event['at'])}  {kind.ljust(wide)}  {_detail(event)}".rstrip())
    return lines


def _spaced(kind: str) -> str:
    """`launch failed` for LaunchFailed."""
    if kind in LABELS:
        return LABELS[kind]
    return "".join(f" {char.lower()}" if char.isupper() else char for char in kind).strip()


def _detail(event: StoryEvent) -> str:
    if event["kind"] == "LeftoversEnded":
        return _left_behind(event["detail"])  # type: ignore[arg-type]
    if event["kind"] == "RequestGrown":
        return _grown(event["detail"] or {})
    parts = [
        f"{name.replace('_', ' ')} {','.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in (event["detail"] or {}).items()
        if not isinstance(value, bool) and value is not None and value != []
    ]
    return safe(", ".join([*parts, *(name.replace("_", " ") for name, value in _flags(event) if value)]))


def _flags(event: StoryEvent) -> list[tuple[str, object]]:
    return [(name, value) for name, value in (event["detail"] or {}).items() if isinstance(value, bool)]


def _grown(detail: Mapping[str, Any]) -> str:
    """`to 12.0G of each GPU`; `to whole GPUs`."""
    parts = ["whole GPUs"] if detail.get("is_whole_gpu") else []
    if detail.get("gpu_memory_bytes") and not parts:
        parts.append(f"{size(detail['gpu_memory_bytes'])} of each GPU")
    if detail.get("memory_bytes"):
        parts.append(f"{size(detail['memory_bytes'])} of host memory")
    return f"to {' and '.join(parts)}" if parts else ""


VERB = Verb(
    "show",
    "show everything about a job: why it waits, how it ended, its history",
    usage=("tarmac show [ID…] [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac show 7", "one job"),
        ("tarmac show last --json | jq '.[0].state'", "your newest job; JSON is always a list"),
    ),
    notes=(IDS_NOTE, "The default is `last`."),
)
