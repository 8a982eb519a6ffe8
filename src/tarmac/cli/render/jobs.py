"""The table of jobs: what `ls` prints once and `ls -w` again and again.

Of jobs that wait, which may be many, only what is shown is asked for.
"""

from __future__ import annotations

from time import time

from tarmac.cli.render.outcome import COLOURS, state_words
from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import command_of, spans
from tarmac.cli.render.waiting import find_waits, starts
from tarmac.shared.clocks import epoch
from tarmac.shared.names import AT_WORK, ENDED, TIERS, WAITING
from tarmac.shared.units import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tarmac.client import Client

    Jobs = list[dict[str, Any]]
    Query = Mapping[str, object]

FIELDS_WAITING = "id,state,name,gpus_asked,command,priority,tier,position,attempt,after,begin_at,estimated_start"
FIELDS = f"{FIELDS_WAITING},gpus,started_at,ended_at,progress,exit_code,signal,reason,warnings"
MOST = 500
RECENT = 10  # how many ended jobs are shown beside the active ones
KEPT = {"queued": 1, "held": 2, "draft": 3}
LAST = float("inf")


def fetch(client: Client, query: Query, *, limit: int | None, most: int | None = None) -> tuple[Jobs, bool]:
    """Active jobs (of those that wait, `most`), the last that ended, and whether older ones were left out."""
    recent = RECENT if limit is None else limit
    at_work = [job for job in _select(client, query, state=",".join(AT_WORK)) if not job["ended_at"]]
    waiting = _select(client, query, most, state=",".join(WAITING), fields=FIELDS_WAITING)
    find_waits(client, [*at_work, *waiting], are_all_active=most is None and not query.get("ids"))
    ended = _select(client, query, recent + 1, state="ended", order="desc")
    return in_order([*at_work, *waiting, *ended[:recent]]), len(ended) > recent


def fetch_all(client: Client, query: Query, *, limit: int | None) -> Jobs:
    """Whatever fits, or the newest of it."""
    jobs = _select(client, query, limit, order="desc")
    find_waits(client, jobs, are_all_active=False)
    return in_order(jobs)


def _select(client: Client, query: Query, limit: int | None = None, **more: str) -> Jobs:
    return [job for page in client.pages({**query, "fields": FIELDS, **more}, limit) for job in page]


def in_order(jobs: Iterable[dict[str, Any]]) -> Jobs:
    """What runs, what waits in the order in which it is considered, what is kept, the newest of what ended."""
    return sorted(jobs, key=_rank)


def _rank(job: Mapping[str, Any]) -> tuple[int, int, float, int, int]:
    """A place counts among its owner's jobs of its tier; those of several owners take turns."""
    state = job["state"]
    if state in ENDED:
        return 4, 0, 0, 0, -job["id"]
    kept = KEPT.get(state)
    if kept is None:
        return 0, 0, 0, 0, job["id"]
    place = job.get("position")
    tier = TIERS.index(job.get("tier") or "normal")
    return kept, tier, LAST if place is None else place, job["priority"], job["id"]


def table(
    jobs: Sequence[Mapping[str, Any]], *, width: int | None, has_colours: bool, now: float | None = None
) -> list[str]:
    at = time() if now is None else now
    states = [job["state"] for job in jobs]
    dim = [("dim" if state in ENDED else None) for state in states] if has_colours else None
    bold = [("dim" if state in ENDED else "bold") for state in states] if has_colours else None
    hues = [COLOURS.get(state) for state in states] if has_colours else None
    columns = [
        Column("ID", [str(job["id"]) for job in jobs], is_right=True, styles=bold),
        Column("STATE", map(_state, jobs), styles=hues),
        Column("GPUS", map(gpus, jobs), most=9, styles=dim),
        Column("TIME", [elapsed(job, at) for job in jobs], is_right=True, styles=dim),
    ]
    begins = [starts(job, at) for job in jobs]
    if any(begins):
        columns.append(Column("STARTS", begins, most=16, styles=dim))
    if any(job.get("progress") for job in jobs):
        done, left = zip(*[progress(job.get("progress")) for job in jobs], strict=True)
        columns.append(Column("DONE", done, is_right=True, styles=dim))
        columns.append(Column("LEFT", left, is_right=True, styles=dim))
    if any(job.get("warnings") for job in jobs):
        hue = ["yellow"] * len(jobs) if has_colours else None
        warnings = ["; ".join(job.get("warnings") or ()) for job in jobs]
        columns.append(Column("WARNING", warnings, most=15, styles=hue))
    if any(job["name"] for job in jobs):
        columns.append(Column("NAME", [job["name"] or "" for job in jobs], most=16, styles=dim))
    columns.append(Column("COMMAND", map(command_of, jobs), styles=dim))
    return lines(columns, width)


def _state(job: Mapping[str, Any]) -> str:
    """With the attempt it is at, or waits for, if it is not the first: it had to make room, or was put back."""
    state, attempt = job["state"], job.get("attempt") or 0
    number = attempt + 1 if state in {"queued", "held"} else attempt
    return f"{state}, attempt {number}" if number > 1 and state not in ENDED else state_words(job)


def gpus(job: Mapping[str, Any]) -> str:
    """The indices it has, a ? for each GPU that has none any more; in brackets how many it waits for."""
    held = job.get("gpus")
    if held:
        known = [gpu["index"] for gpu in held if gpu["index"] is not None]
        return ",".join([spans(known)] * bool(known) + ["?"] * (len(held) - len(known)))
    return f"({job['gpus_asked']})" if job["gpus_asked"] and job["state"] not in ENDED else "-"


def elapsed(job: Mapping[str, Any], at: float) -> str:
    """How long it ran, or runs."""
    if not job.get("started_at"):
        return "-"
    ended = job["ended_at"]
    return duration((epoch(ended) if ended else at) - epoch(job["started_at"]))


def progress(value: Mapping[str, Any] | None) -> tuple[str, str]:
    """How much is done, and how long the rest will take."""
    if not value or value.get("fraction") is None:
        return "", ""
    left = value.get("eta_s")
    return f"{value['fraction']:.0%}", "" if left is None else duration(left)
