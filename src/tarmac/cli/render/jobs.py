"""The table of jobs: printed once by `ls`, repeatedly by `ls -w`.

Waiting jobs may be many, so only the fields that are shown are requested for them.
"""

from __future__ import annotations

from time import time

from tarmac.cli.render.commands import distinct_commands
from tarmac.cli.render.job import COLOURS, elapsed, gpus, progress, starts, state_and_attempt
from tarmac.cli.render.table import Column, lines
from tarmac.shared.names import ENDED, TIERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.cli.args.selectors import Query
    from tarmac.client import Client
    from tarmac.client.records import Job

FIELDS_WAITING = (
    "id,group,index,params,state,name,gpus_asked,command,priority,tier,position,attempt,attempts_max,retry_at,waits_for,begin_at,"
    "estimated_start,estimate_rests_on"
)
FIELDS = f"{FIELDS_WAITING},gpus,elapsed_s,stale_s,ended_at,progress,exit_code,signal,reason,warnings"
MOST = 500
RECENT = 10  # ended jobs shown after the active ones
GIVE_WAY = ("LEFT", "WARNING", "NAME", "DONE", "STARTS", "GPUS", "TIME")  # left out in this order if space is short
GROUPS = {"queued": 1, "held": 2, "draft": 3}
LAST = float("inf")


def fetch_recent(
    client: Client, *, limit: int | None, most: int | None = None, alone: bool = False
) -> tuple[list[Job], bool]:
    """Active jobs (at most `most` waiting ones), the last that ended, and whether older ones were left out."""
    from tarmac.client.recent import recent_jobs

    recent = RECENT if limit is None else limit
    found = recent_jobs(client, ended=recent + 1, most=most, alone=alone, fields=FIELDS, waiting_fields=FIELDS_WAITING)
    return in_order([*found.active.values(), *found.ended[:recent]]), len(found.ended) > recent


def fetch_all(client: Client, query: Query, *, limit: int | None, alone: bool = False) -> list[Job]:
    """Every job that matches, or the newest `limit` of them."""
    return in_order(_select(client, query, limit, state=query.get("state"), newest_first=True, alone=alone))


def _select(
    client: Client,
    query: Query,
    limit: int | None = None,
    *,
    state: str | None,
    newest_first: bool = False,
    fields: str = FIELDS,
    alone: bool = False,
) -> list[Job]:
    wanted: Query = {**query, "state": state}
    return list(client.jobs(**wanted, newest_first=newest_first, fields=fields, limit=limit, alone=alone))


def in_order(jobs: Iterable[Job]) -> list[Job]:
    """Running jobs, waiting jobs in the order in which they are considered, held jobs and drafts, the newest ended."""
    return sorted(jobs, key=_rank)


def _rank(job: Job) -> tuple[int, int, float, int, int]:
    """A place counts among the owner's jobs of the same tier; those of several owners take turns."""
    if job.state in ENDED:
        return 4, 0, 0, 0, -job.id
    group = GROUPS.get(job.state)
    if group is None:
        return 0, 0, 0, 0, job.id
    place = job.position
    return group, TIERS.index(job.tier or "normal"), LAST if place is None else place, job.priority, job.id


def table(jobs: Sequence[Job], *, width: int | None, has_colours: bool, now: float | None = None) -> list[str]:
    at = time() if now is None else now
    states = [job.state for job in jobs]
    dim = [("dim" if state in ENDED else None) for state in states] if has_colours else None
    bold = [("dim" if state in ENDED else "bold") for state in states] if has_colours else None
    hues = [COLOURS.get(state) for state in states] if has_colours else None
    columns = [
        Column("ID", [str(job.id) for job in jobs], is_right=True, styles=bold),
        Column("STATE", map(state_and_attempt, jobs), styles=hues),
        Column("GPUS", map(gpus, jobs), styles=dim),
        Column("TIME", map(elapsed, jobs), is_right=True, styles=dim),
    ]
    begins = [starts(job, at) for job in jobs]
    if any(begins):
        columns.append(Column("STARTS", begins, styles=dim))
    if any(job.progress for job in jobs):
        done, left = zip(*[progress(job.progress) for job in jobs], strict=True)
        columns.append(Column("DONE", done, is_right=True, styles=dim))
        columns.append(Column("LEFT", left, is_right=True, styles=dim))
    if any(job.warnings for job in jobs):
        hue = ["yellow"] * len(jobs) if has_colours else None
        columns.append(Column("WARNING", ["; ".join(job.warnings or ()) for job in jobs], least=10, styles=hue))
    if any(job.name for job in jobs):
        columns.append(Column("NAME", [job.name or "" for job in jobs], least=8, styles=dim))
    columns.append(Column("COMMAND", distinct_commands(jobs), styles=dim))
    return lines(columns, width, GIVE_WAY)
