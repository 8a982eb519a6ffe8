"""The table of jobs: what `ls` prints once and `ls -w` again and again."""

from __future__ import annotations

from time import time

from tarmac.cli.outcome import COLOURS, state_words
from tarmac.cli.table import Column, lines
from tarmac.cli.text import command_of, safe, spans
from tarmac.cli.times import duration, epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tarmac.client import Client

    Jobs = list[dict[str, Any]]

FIELDS = (
    "id,state,name,gpus_asked,gpus,command,submitted_at,started_at,ended_at,progress,exit_code,signal,reason,priority"
)
RECENT = 10  # how many ended jobs are shown beside the active ones
ENDED = ("succeeded", "failed", "cancelled")


def fetch(client: Client, query: Mapping[str, object], *, has_all: bool, limit: int | None) -> tuple[Jobs, int]:
    """The jobs in the order in which they are shown, and how many ended ones were left out (0: none or not known)."""
    if has_all:
        jobs = [job for page in client.pages({**query, "fields": FIELDS, "order": "desc"}, limit) for job in page]
        return in_order(jobs), 0
    active = [job for page in client.pages({**query, "fields": FIELDS, "state": "active"}) for job in page]
    recent = RECENT if limit is None else limit
    ended = [
        job
        for page in client.pages({**query, "fields": FIELDS, "state": "ended", "order": "desc"}, recent + 1)
        for job in page
    ]
    return in_order(active + ended[:recent]), max(0, len(ended) - recent)


def in_order(jobs: Iterable[dict[str, Any]]) -> Jobs:
    """What runs, what waits in the order of the queue, what ended with the newest first."""
    return sorted(jobs, key=_rank)


def _rank(job: Mapping[str, Any]) -> tuple[int, int, int]:
    state = job["state"]
    if state == "queued":
        return 1, job["priority"], job["id"]
    if state in ENDED:
        return 2, 0, -job["id"]
    return 0, 0, job["id"]


def table(
    jobs: Sequence[Mapping[str, Any]], *, width: int | None, has_colours: bool, now: float | None = None
) -> list[str]:
    at = time() if now is None else now
    has_names = any(job["name"] for job in jobs)
    has_progress = any(job["progress"] for job in jobs)
    columns = [Column("ID", is_right=True), Column("STATE"), Column("GPUS", most=9), Column("TIME", is_right=True)]
    if has_progress:
        columns.append(Column("PROGRESS"))
    if has_names:
        columns.append(Column("NAME", most=20))
    columns.append(Column("COMMAND"))
    rows = [_row(job, at, has_names=has_names, has_progress=has_progress) for job in jobs]
    styles = [_styles(job["state"], len(columns)) for job in jobs] if has_colours else None
    return lines(columns, rows, styles, width)


def _row(job: Mapping[str, Any], at: float, *, has_names: bool, has_progress: bool) -> list[str]:
    row = [str(job["id"]), state_words(job), gpus(job), elapsed(job, at)]
    if has_progress:
        row.append(progress(job["progress"]))
    if has_names:
        row.append(safe(job["name"] or ""))
    row.append(safe(command_of(job)))
    return row


def _styles(state: str, count: int) -> list[str | None]:
    if state in ENDED:
        return ["dim", COLOURS[state], *["dim"] * (count - 2)]
    return ["bold", COLOURS.get(state), *[None] * (count - 2)]


def gpus(job: Mapping[str, Any]) -> str:
    """The indices it has; in brackets how many it waits for."""
    if job["gpus"]:
        return spans([gpu["index"] for gpu in job["gpus"]])
    return f"({job['gpus_asked']})" if job["gpus_asked"] and job["state"] not in ENDED else "-"


def elapsed(job: Mapping[str, Any], at: float) -> str:
    """How long it ran, runs, or has waited so far."""
    started, ended = job["started_at"], job["ended_at"]
    if started:
        return duration((epoch(ended) if ended else at) - epoch(started))
    return "-" if ended else duration(at - epoch(job["submitted_at"]))


def progress(value: Mapping[str, Any] | None) -> str:
    if not value or value.get("fraction") is None:
        return ""
    left = value.get("eta_s")
    return f"{value['fraction']:4.0%}" + ("" if left is None else f" {duration(left)} left")
