"""Which ended jobs are to be removed, and what that frees. Reads the database itself: the index may be behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.records import dataclass
from tarmac.store.database.connections import used_bytes

if TYPE_CHECKING:
    import sqlite3

ENDED_AT = "CASE WHEN json_valid(status) THEN json_extract(status, '$.ended_at') END"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanFilter:
    """Selects ended jobs. All conditions must hold; None and empty ones are ignored."""

    owner: str | None = None
    states: tuple[str, ...] = ()
    before: float | None = None  # ended earlier
    before_id: int | None = None  # of jobs that ended at `before`, those with lower ids as well


class EndedJob(NamedTuple):
    id: int
    attempt: int


class Selected(NamedTuple):
    """All jobs that match."""

    jobs: list[EndedJob]
    oldest: float | None
    newest: float | None
    bytes: int  # that their rows take in the database, roughly
    kept: int  # jobs that match and stay


class Cutoff(NamedTuple):
    before: float
    before_id: int


def newest_kept(connection: sqlite3.Connection, wanted: CleanFilter, keep: int) -> Cutoff | None:
    """The oldest of the `keep` newest jobs: older ones may be removed. None if there are fewer."""
    where, values = _conditions(CleanFilter(owner=wanted.owner, states=wanted.states))
    found = connection.execute(
        f"SELECT coalesce({ENDED_AT}, 0) AS ended, id FROM jobs WHERE {where}"
        " ORDER BY ended DESC, id DESC LIMIT 1 OFFSET ?",
        (*values, keep - 1),
    ).fetchone()
    return None if found is None else Cutoff(*found)


def selected(connection: sqlite3.Connection, wanted: CleanFilter, kept: frozenset[int]) -> Selected:
    """Everything that matches, but for the jobs in `kept`."""
    where, values = _conditions(wanted)
    jobs: list[EndedJob] = []
    oldest: float | None = None
    newest: float | None = None
    staying = 0
    for number, attempt, ended_at in connection.execute(
        f"SELECT id, attempt, {ENDED_AT} FROM jobs WHERE {where} ORDER BY id", values
    ):
        if number in kept:
            staying += 1
            continue
        jobs.append(EndedJob(number, attempt))
        if ended_at is not None:
            oldest = ended_at if oldest is None else min(oldest, ended_at)
            newest = ended_at if newest is None else max(newest, ended_at)
    every = connection.execute("SELECT count(*) FROM jobs").fetchone()[0]
    return Selected(jobs, oldest, newest, used_bytes(connection) * len(jobs) // max(every, 1), staying)


def some(connection: sqlite3.Connection, wanted: CleanFilter, *, after: int, limit: int) -> list[EndedJob]:
    """The next jobs that match, by id."""
    where, values = _conditions(wanted)
    found = connection.execute(
        f"SELECT id, attempt FROM jobs WHERE {where} AND id > ? ORDER BY id LIMIT ?", (*values, after, limit)
    )
    return [EndedJob(*row) for row in found]


def ended_count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM jobs WHERE is_live = 0").fetchone()[0])


def needed_by_waiting(connection: sqlite3.Connection) -> frozenset[int]:
    """The jobs that waiting jobs depend on."""
    found = connection.execute(
        "SELECT DISTINCT json_extract(value, '$.job') FROM"
        " (SELECT spec FROM jobs WHERE is_live = 1 AND json_valid(spec) AND instr(spec, '\"after\":[{') > 0),"
        " json_each(spec, '$.after')"
    )
    return frozenset(row[0] for row in found)


def next_id(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'").fetchone()
    return 1 if found is None else int(found[0]) + 1


def stored_setting(connection: sqlite3.Connection, name: str) -> str | None:
    found = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def existing(connection: sqlite3.Connection, numbers: list[int]) -> set[int]:
    found: set[int] = set()
    for start in range(0, len(numbers), 10_000):
        part = str(numbers[start : start + 10_000])
        found.update(
            row[0]
            for row in connection.execute("SELECT id FROM jobs WHERE id IN (SELECT value FROM json_each(?))", (part,))
        )
    return found


def _conditions(wanted: CleanFilter) -> tuple[str, list[Any]]:
    where, values = ["is_live = 0"], list[Any]()
    if wanted.owner is not None:
        where.append("owner = ?")
        values.append(wanted.owner)
    if wanted.states:
        where.append(f"state IN ({', '.join('?' * len(wanted.states))})")
        values += wanted.states
    if wanted.before is not None:
        where.append(f"(coalesce({ENDED_AT}, 0), id) < (?, ?)")
        values += [wanted.before, wanted.before_id or 0]
    return " AND ".join(where), values
