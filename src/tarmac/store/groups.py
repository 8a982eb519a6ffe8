"""Groups of jobs: arrays, sweeps and batches, and how many of their jobs are in each state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.core.model.status import state_name
from tarmac.records import dataclass

LIVE = ("queued", "held", "draft", "starting", "running", "paused", "stopping")  # states of jobs that have not ended

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from tarmac.core.model.job import Job
    from tarmac.core.model.names import GroupKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Its jobs have the ids from `id` on, as far as they are not removed."""

    id: int  # of its first job
    owner: str
    kind: GroupKind
    name: str | None
    command: str  # as lists show it, with placeholders
    varies: str  # what differs between its jobs, in short
    params: tuple[str, ...]  # names of a sweep's parameters
    indices: str | None  # of an array
    count: int  # of the jobs that were submitted
    submitted_at: float

    @property
    def span(self) -> range:
        return range(self.id, self.id + self.count)


# As the index group_counts_live says it, so that ended groups are not looked at.
_ACTIVE = f"SELECT group_id FROM group_counts WHERE count > 0 AND state IN ({', '.join(map(repr, LIVE))})"
# Unknown jobs that may hold GPUs have not ended. The states are those of the index jobs_at_work.
_UNKNOWN = (
    "SELECT group_id FROM jobs WHERE state IN ('starting', 'running', 'paused', 'stopping', 'unknown')"
    " AND state = 'unknown' AND is_live = 1 AND group_id IS NOT NULL"
)
_COLUMNS = "id, owner, kind, name, command, varies, params, indices, count, submitted_at"


def add(connection: sqlite3.Connection, groups: Sequence[Group], jobs: Sequence[Job]) -> None:
    """Store new groups, and count the new jobs of each."""
    connection.executemany(
        f"INSERT OR REPLACE INTO groups ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [_row(group) for group in groups],
    )
    counts = Counter((job.group, state_name(job.status)) for job in jobs if job.group is not None)
    connection.executemany(
        "INSERT INTO group_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(group, state, count) for (group, state), count in counts.items()],
    )


def rewrite(connection: sqlite3.Connection, groups: Sequence[Group]) -> None:
    """Store what lists show about them."""
    connection.executemany(
        "UPDATE groups SET command = ?, varies = ? WHERE id = ?",
        [(group.command, group.varies, group.id) for group in groups],
    )


class GroupReader:
    """Queries about groups. `connection` returns the reader's connection, which may change."""

    def __init__(self, connection: Callable[[], sqlite3.Connection]) -> None:
        self._connection = connection

    def find(self, number: int) -> Group | None:
        return self._first("id = ?", number)

    def newest_of(self, owner: str) -> Group | None:
        return self._first("owner = ?", owner)

    def named(self, name: str, owner: str) -> Group | None:
        """The newest with this name, first among those of the owner."""
        return self._first("name = ? AND owner = ?", name, owner) or self._first("name = ?", name)

    def names(self) -> list[str]:
        found = self._connection().execute("SELECT DISTINCT name FROM groups WHERE name IS NOT NULL LIMIT 10000")
        return [row[0] for row in found]

    def group_of(self, job: int) -> int | None:
        """The group that a job is part of."""
        row = self._connection().execute("SELECT group_id FROM jobs WHERE id = ?", (job,)).fetchone()
        return None if row is None else row[0]

    def listed(self, *, is_active: bool | None, owner: str | None, before: int | None, limit: int) -> list[Group]:
        """The newest first. `is_active`: with or without a job that has not ended."""
        where, values = ["1"], list[str | int]()
        if is_active is not None:
            where.append(f"id {'' if is_active else 'NOT '}IN ({_ACTIVE} UNION ALL {_UNKNOWN})")
        if owner is not None:
            where.append("owner = ?")
            values.append(owner)
        if before is not None:
            where.append("id < ?")
            values.append(before)
        found = self._connection().execute(
            f"SELECT {_COLUMNS} FROM groups WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?", (*values, limit)
        )
        return list(map(_group, found))

    def counts(self, numbers: Iterable[int]) -> dict[int, dict[str, int]]:
        """How many jobs of each group are in each state."""
        found = self._connection().execute(
            "SELECT group_id, state, count FROM group_counts"
            " WHERE count > 0 AND group_id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(numbers)).decode(),),
        )
        counts: dict[int, dict[str, int]] = {}
        for group, state, count in found:
            counts.setdefault(group, {})[state] = count
        return counts

    def unknown_live(self) -> Counter[int]:
        """How many unknown jobs of each group may still hold GPUs."""
        return Counter(row[0] for row in self._connection().execute(_UNKNOWN))

    def a_live_job(self, group: Group) -> int | None:
        row = (
            self._connection()
            .execute(
                "SELECT id FROM jobs WHERE is_live = 1 AND id BETWEEN ? AND ? LIMIT 1",
                (group.id, group.span.stop - 1),
            )
            .fetchone()
        )
        return None if row is None else int(row[0])

    def _first(self, condition: str, *values: object) -> Group | None:
        row = (
            self._connection()
            .execute(f"SELECT {_COLUMNS} FROM groups WHERE {condition} ORDER BY id DESC LIMIT 1", values)
            .fetchone()
        )
        return None if row is None else _group(row)


def _row(group: Group) -> tuple[Any, ...]:
    return (
        group.id,
        group.owner,
        group.kind,
        group.name,
        group.command,
        group.varies,
        msgspec.json.encode(group.params).decode(),
        group.indices,
        group.count,
        group.submitted_at,
    )


def _group(row: tuple[Any, ...]) -> Group:
    number, owner, kind, name, command, varies, params, indices, count, submitted_at = row
    return Group(
        id=number,
        owner=owner,
        kind=kind,
        name=name,
        command=command,
        varies=varies,
        params=tuple(msgspec.json.decode(params)),
        indices=indices,
        count=count,
        submitted_at=submitted_at,
    )
