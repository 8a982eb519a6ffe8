"""The table of a job's attempts, for `tarmac show`."""

from __future__ import annotations

from tarmac.cli.render.job import COLOURS, elapsed, state_words
from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import gpu_spans
from tarmac.shared.clocks import local
from tarmac.shared.names import WAITING
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.answers import Attempt
    from tarmac.client.records import Job

GIVE_WAY = ("PEAK", "TIME", "STARTED")
FIRST, LAST = 5, 20  # of many attempts, those that are shown


def attempt_table(job: Job, *, width: int | None, has_colours: bool) -> list[str]:
    """Empty for a job with a single attempt, unless it waits for the next one. Of many, the middle is left out."""
    from tarmac.client.records import Job as Record

    attempts: list[Attempt] = job.attempts or []
    if len(attempts) < (1 if job.state in WAITING else 2):
        return []
    left_out = len(attempts) - FIRST - LAST
    if left_out > 0:
        attempts = [*attempts[:FIRST], *attempts[-LAST:]]
    ends = [Record(attempt) for attempt in attempts]  # its fields have the names of a job's
    hues = [COLOURS.get(end.state) for end in ends] if has_colours else None
    columns = [
        Column("ATTEMPT", [str(attempt["attempt"]) for attempt in attempts], is_right=True),
        Column("STATE", map(state_words, ends), styles=hues),
        Column("GPUS", [_gpus(attempt) for attempt in attempts]),
        Column("STARTED", [local(attempt["started_at"]) if attempt["started_at"] else "-" for attempt in attempts]),
        Column("TIME", map(elapsed, ends), is_right=True),
        Column("PEAK", [_peak(attempt) for attempt in attempts], is_right=True),
    ]
    if any(_error(attempt) for attempt in attempts):
        columns.append(Column("ERROR", [_error(attempt) for attempt in attempts], least=12))
    text = lines(columns, width, GIVE_WAY)
    if left_out > 0:
        text.insert(1 + FIRST, f"… {left_out:,} more attempts; `tarmac show {job.id} --json` lists all")
    return text


def _gpus(attempt: Attempt) -> str:
    return ",".join(gpu_spans([gpu["name"] for gpu in attempt["gpus"]])) or "-"


def _peak(attempt: Attempt) -> str:
    peak = attempt["peak_gpu_memory_bytes"]
    return size(peak) if peak else "-"


def _error(attempt: Attempt) -> str:
    return attempt["error_line"] or attempt["message"] or ""
