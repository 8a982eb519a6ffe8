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
    Query = Mapping[str, object]

FIELDS = (
    "id,state,name,gpus_asked,gpus,command,submitted_at,started_at,ended_at,progress,exit_code,signal,reason,priority"
)
AT_WORK = "starting,running,stopping,unknown"
MOST = 500
RECENT = 10  # how many ended jobs are shown beside the active ones
ENDED = ("succeeded", "failed", "cancelled")


def fetch(client: Client, query: Query, *, has_all: bool, limit: int | None) -> tuple[Jobs, bool]:
    """The jobs in the order in which they are shown, and whether older ones were left out."""
    if has_all:
        return in_order(_select(client, query, limit, order="desc")), False
    recent = RECENT if limit is None else limit
    ended = _select(client, query, recent + 1, state="ended", order="desc")
    return in_order(_select(client, query, state="active") + ended[:recent]), len(ended) > recent


def fetch_some(client: Client, query: Query, *, has_all: bool, limit: int | None) -> Jobs:
    """The same for a screen: no more of a long queue than could be of interest, so that asking often costs little."""
    if has_all:
        return in_order(_select(client, query, limit or MOST, order="desc"))
    at_work = [job for job in _select(client, query, state=AT_WORK) if not job["ended_at"]]
    waiting = _select(client, query, MOST, state="queued")
    recent = RECENT if limit is None else limit
    return in_order(at_work + waiting + _select(client, query, recent, state="ended", order="desc"))


def _select(client: Client, query: Query, limit: int | None = None, **more: str) -> Jobs:
    return [job for page in client.pages({**query, "fields": FIELDS, **more}, limit) for job in page]


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
        columns += [Column("DONE", is_right=True), Column("LEFT", is_right=True)]
    if has_names:
        columns.append(Column("NAME", most=16))
    columns.append(Column("COMMAND"))
    rows = [_row(job, at, has_names=has_names, has_progress=has_progress) for job in jobs]
    styles = [_styles(job["state"], len(columns)) for job in jobs] if has_colours else None
    return lines(columns, rows, styles, width)


def _row(job: Mapping[str, Any], at: float, *, has_names: bool, has_progress: bool) -> list[str]:
    row = [str(job["id"]), state_words(job), gpus(job), elapsed(job, at)]
    if has_progress:
        row += progress(job["progress"])
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


def progress(value: Mapping[str, Any] | None) -> tuple[str, str]:
    """How much is done, and how long the rest will take."""
    if not value or value.get("fraction") is None:
        return "", ""
    left = value.get("eta_s")
    return f"{value['fraction']:.0%}", "" if left is None else duration(left)
