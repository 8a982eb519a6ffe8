"""The columns of a trace: those that every job needs, and options of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.cli.parser import text
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.units import parse_decimal
from tarmac.typed import values as readers
from tarmac.typed.values import count, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.shared.job_options import JobOption

RENAMED = {"time_limit_s": "limit_s"}  # the simulator uses another name
# Column -> the option, and the field of a simulated job.
TRACE_FIELDS = {
    option.column: (option, RENAMED.get(option.wire, option.wire)) for option in JOB_OPTIONS if option.column
}
FACTOR = "factor"
EXCLUSIVE = (("gpu_memory_bytes", "gpu_share"), ("limit_s", FACTOR))  # fields of which a job may have one
NEEDED = ("submit_s", "owner", "gpus", "duration_s")


def limit(word: str) -> float:
    """Plain seconds, as for all columns that end in _s; the option --time requires a unit."""
    limit_s = seconds(word)
    if not limit_s:
        raise ValueError("it must be more than 0; leave it empty for no limit")
    return limit_s


def factor(word: str) -> float:
    """How many times its duration the limit of a job is."""
    number = parse_decimal(word)
    if not number:
        raise ValueError("it must be a number above 0, such as 1.5; leave it empty for no limit")
    return number


OWN_READERS: dict[str, Callable[[str], object]] = {"limit_s": limit, "gpu_memory": readers.size}


def _reader(option: JobOption) -> Callable[[str], object]:
    read: Callable[[str], object] = OWN_READERS.get(option.column) or getattr(readers, option.read)
    return read


# Column -> the field of a simulated job, and how it is read.
COLUMNS: dict[str, tuple[str, Callable[[str], object]]] = {
    "submit_s": ("submit_s", seconds),
    "owner": ("owner", text),
    "gpus": ("gpus", count),
    "duration_s": ("duration_s", seconds),
    **{column: (field, _reader(option)) for column, (option, field) in TRACE_FIELDS.items()},
    FACTOR: (FACTOR, factor),
}
COLUMNS["share"] = COLUMNS["gpu_share"]
