"""Records of a file become jobs again: they are checked, recognized if they are there already, and inserted."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.core.model.ids import JobId
from tarmac.store import rows
from tarmac.store.environments import fingerprints
from tarmac.store.environments.fingerprints import TakenFingerprint
from tarmac.store.history.record_checks import WrongRecord, checked, columns, empty, python_of, stored
from tarmac.store.history.records import TABLES, json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.model.job import Job
    from tarmac.store.history.records import Record


class Origin(NamedTuple):
    """Which job it was, wherever it was submitted."""

    queue: str
    id: int
    group: int | None
    submitted_at: float


class ImportedJob(NamedTuple):
    id: int
    record: Record
    origin: Origin
    environment: str  # hash; empty: it is not known


class Known(NamedTuple):
    """What the database says about a record."""

    existing: int | None = None  # the job is there, under this id
    former: int | None = None  # it was imported before under this id, and removed
    is_taken: bool = False  # another job has its id, or had it


class Trial:
    """A database in memory that records are inserted into first: what SQLite refuses must not fail a commit."""

    def __init__(self) -> None:
        self._connection = empty()

    def close(self) -> None:
        self._connection.close()

    def check(self, record: Any, queue: str) -> Job:
        """The job of a record. Raises WrongRecord if it, or what belongs to it, cannot be stored."""
        job = checked(record)
        try:
            for number in (job.id, job.id + 1):  # it may keep its id, or get another one
                insert(self._connection, [ImportedJob(number, record, origin_of(record, queue), "")])
                for table in ("jobs", "groups", "imported", "group_counts", *(one.name for one in TABLES)):
                    self._connection.execute(f"DELETE FROM {table}")
                if record.get("group") is None:
                    break
        except (sqlite3.Error, KeyError, TypeError, ValueError, OverflowError) as error:
            raise WrongRecord("unstorable", str(error)) from None
        return job


def origin_of(record: Record, queue: str) -> Origin:
    """Where the job was submitted: in the queue that the file is from, unless that one had imported it, too."""
    job, original = record["job"], record.get("original")
    if not isinstance(original, dict):
        return Origin(queue, job["id"], job.get("group_id"), float(job["submitted_at"]))
    return Origin(original["queue"], original["id"], job.get("group_id"), float(job["submitted_at"]))


def known(connection: sqlite3.Connection, origin: Origin, owner: str, *, is_at_home: bool) -> Known:
    """`is_at_home`: it was submitted in this queue."""
    found = connection.execute(
        "SELECT imported.job, jobs.id, jobs.owner FROM imported LEFT JOIN jobs ON jobs.id = imported.job"
        " WHERE original_id = ? AND imported.submitted_at = ? AND queue = ?",
        (origin.id, origin.submitted_at, origin.queue),
    ).fetchall()
    for job, there, its_owner in found:
        if there is None:
            return Known(former=job)
        if its_owner == owner:
            return Known(existing=there)
    row = connection.execute("SELECT owner, submitted_at FROM jobs WHERE id = ?", (origin.id,)).fetchone()
    if is_at_home and row is not None and tuple(row) == (owner, origin.submitted_at):
        return Known(existing=origin.id)
    had = connection.execute("SELECT 1 FROM imported WHERE job = ?", (origin.id,)).fetchone()
    return Known(is_taken=row is not None or had is not None)


class OwnedJob(NamedTuple):
    owner: str
    attempt: int


def imported_job(connection: sqlite3.Connection, job: int) -> OwnedJob | None:
    """None if it was submitted here."""
    found = connection.execute(
        "SELECT owner, attempt FROM jobs JOIN imported ON imported.job = jobs.id WHERE jobs.id = ?", (job,)
    ).fetchone()
    return None if found is None else OwnedJob(*found)


def is_environment_of(connection: sqlite3.Connection, digest: str, owner: str) -> bool:
    """Does a job of this owner have this environment? Nobody gets that of another user by importing its hash."""
    found = connection.execute(
        f"SELECT 1 FROM jobs WHERE {rows.ENVIRONMENT_OF_JOB} = ? AND owner = ? LIMIT 1", (digest, owner)
    ).fetchone()
    return found is not None


def insert(connection: sqlite3.Connection, jobs: Sequence[ImportedJob]) -> None:
    for one in jobs:
        connection.execute(
            "INSERT OR REPLACE INTO imported (job, queue, original_id, original_group, submitted_at)"
            " VALUES (?, ?, ?, ?, ?)",
            (one.id, one.origin.queue, one.origin.id, one.origin.group, one.origin.submitted_at),
        )
        job = stored(one.record["job"], "jobs")
        spec = {**one.record["job"]["spec"], "environment": one.environment}
        group = _insert_group(connection, one)
        job |= {"id": one.id, "is_live": 0, "spec": json_text(spec), "group_id": group}
        _insert_row(connection, "jobs", job)
        if group is not None:
            connection.execute(
                "INSERT INTO group_counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1",
                (group, job["state"]),
            )
        for table in TABLES:
            for row in one.record.get(table.name) or ():
                _insert_row(connection, table.name, {**stored(row, table.name), table.key: one.id})
        if (python := python_of(one.record)) is not None:
            fingerprints.write(connection, [TakenFingerprint(JobId(one.id), python.attempt, python.fingerprint)])


def give_out(connection: sqlite3.Connection, last: int) -> None:
    """No new job gets this id or a lower one."""
    connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'jobs'", (last,))
    connection.execute(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'jobs', ?"
        " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'jobs')",
        (last,),
    )


def _insert_group(connection: sqlite3.Connection, one: ImportedJob) -> int | None:
    """The group that the job belongs to here. None if another group has its id."""
    group = one.record.get("group")
    if group is None:
        return None
    number: int = group["id"]
    if one.id != one.record["job"]["id"]:
        number = connection.execute(
            "SELECT min(job) FROM imported WHERE queue = ? AND original_group = ? AND job > ?",
            (one.origin.queue, one.origin.group, one.id - group["count"]),
        ).fetchone()[0]
    row = {**stored(group, "groups"), "id": number}
    found = connection.execute("SELECT owner, submitted_at FROM groups WHERE id = ?", (number,)).fetchone()
    if found is None:
        _insert_row(connection, "groups", row)
    elif tuple(found) != (row.get("owner"), row.get("submitted_at")):
        return None
    return number


def _insert_row(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    names = sorted(row.keys() & columns(table))
    connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        [row[name] for name in names],
    )
