"""The table of ended jobs."""

from __future__ import annotations

from time import time

from tarmac.cli.render.job import COLOURS, command_of, elapsed, gpus, state_words
from tarmac.cli.render.table import Column, lines
from tarmac.shared.clocks import clock, epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.records import Job

FIELDS = (
    "id,state,owner,name,project,tags,command,gpus,gpus_asked,elapsed_s,submitted_at,started_at,ended_at,"
    "exit_code,signal,reason"
)
GIVE_WAY = ("OWNER", "NAME", "GPUS", "TIME", "ENDED")  # left out in this order if space is short


def table(jobs: Sequence[Job], *, width: int | None, has_colours: bool, now: float | None = None) -> list[str]:
    at = time() if now is None else now
    hues = [COLOURS.get(job.state) for job in jobs] if has_colours else None
    columns = [
        Column("ID", [str(job.id) for job in jobs], is_right=True),
        Column("STATE", map(state_words, jobs), styles=hues),
        Column("ENDED", [_clock(job, at) for job in jobs]),
        Column("TIME", map(elapsed, jobs), is_right=True),
        Column("GPUS", map(gpus, jobs)),
    ]
    if len({job.owner for job in jobs}) > 1:
        columns.append(Column("OWNER", [job.owner or "" for job in jobs]))
    if any(job.name for job in jobs):
        columns.append(Column("NAME", [job.name or "" for job in jobs], least=8))
    columns.append(Column("COMMAND", map(command_of, jobs)))
    return lines(columns, width, GIVE_WAY)


def _clock(job: Job, now: float) -> str:
    ended = job.raw.get("ended_at")
    return "" if ended is None else clock(epoch(ended), now)
