"""The options of a job as one types them: the way back from the wire."""

from __future__ import annotations

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.units import typed_duration, typed_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from tarmac.shared.job_options import JobOption

COMMANDS = ("command", "shell")
EDITABLE = {option.name.replace("_", "-"): option for option in JOB_OPTIONS if "edit" in option.verbs}


def typed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """By the names of options, as one types them, from what the controller says about a job."""
    found: dict[str, Any] = {name: options[name] for name in COMMANDS if name in options}
    for key, option in EDITABLE.items():
        if option.wire in options and option.name not in {*COMMANDS, "signal"}:
            found[key] = written(option, options[option.wire])
    stops = [options["signal"]] if "signal" in options else []
    if stops or "warn" in options:
        found["signal"] = written(EDITABLE["signal"], [*stops, *([options["warn"]] if "warn" in options else [])])
    return found


def form_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """As the fields of a form show them: texts, lists of texts and switches. Without the command."""
    found: dict[str, Any] = {}
    for name, value in typed_options(options).items():
        if name in COMMANDS:
            continue
        is_many = EDITABLE[name].is_many
        listed = value if isinstance(value, list) else [value]
        found[name] = (
            value is True
            if isinstance(value, bool)
            else [str(one) for one in listed]
            if is_many
            else ",".join(map(str, listed))
        )
    return found


def written(option: JobOption, value: Any) -> Any:
    """The value of the wire as one types it: text, a number, a switch or a list of these."""
    write = WRITERS.get(option.read)
    return value if write is None else write(value)


def _moment(value: float) -> str:
    from time import localtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%S", localtime(value))


def _signals(value: list[int | str]) -> list[str]:
    from tarmac.shared.signal_names import signal_name

    return [signal_name(one).removeprefix("SIG") if isinstance(one, int) else one for one in value]


WRITERS: dict[str, Callable[[Any], Any]] = {
    "seconds": typed_duration,
    "duration": typed_duration,
    "size": typed_size,
    "size_or_auto": lambda value: value if isinstance(value, str) else typed_size(value),
    "percent": lambda value: f"{value}%",
    "models": "|".join,
    "named_gpus": lambda value: ",".join(map(str, value)),
    "moment": _moment,
    "signal": _signals,
}  # by the reader of the option
