"""Makes the database of a backup fit to continue where another one stopped: nothing runs a second time.

The database that is put aside knows what happened since the backup. Jobs that ran since, and messages that are still to
be sent, are taken over from it. Without it, or if it does not know a job, a waiting job is held, because it may have
run. Ids that it gave to later jobs are not given again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tarmac.core.model.note import note
from tarmac.core.model.status import Draft, Held, Queued, Starting, Unknown
from tarmac.shared.names import AT_WORK
from tarmac.store import rows
from tarmac.store.database.database import quoted

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Status

BY = "tarmac restore"
SKIPPED_IDS = "skipped_ids"  # the setting with ids that no job gets
_spans = msgspec.json.Decoder(list[tuple[int, int]])


class Restored(NamedTuple):
    held: int  # waiting jobs that may have run since
    taken_over: int  # jobs whose newer state was known
    left: list[int]  # jobs that were submitted since and did not run: only the other database has them


def reconcile(connection: sqlite3.Connection, newer: Path | None, now: float) -> Restored:
    """Within a transaction of the caller. `newer` is the database that was in use since, attached; None: unreadable."""
    live = [rows.job_of(row) for row in connection.execute(f"SELECT {rows.JOB_COLUMNS} FROM jobs WHERE is_live = 1")]
    held = taken = 0
    left: list[int] = []
    for job in live:
        since = None if newer is None else _attempt_since(connection, job)
        is_waiting = isinstance(job.status, Queued | Held | Draft)
        if since is not None and is_waiting and since == job.attempt:
            continue  # it has not run since the backup
        if since is not None:
            _take_over(connection, job.id)
            taken += 1
        elif isinstance(job.status, Queued):
            _enter(connection, job, Held(by=BY, since=now), "JobsHeld", now)
            held += 1
        elif isinstance(job.status, Starting):  # or the node would be asked to start it again
            message = note("unknown.no_record")
            booking = job.status.booking.with_others_sent()
            lost = Unknown(booking=booking, pid=None, started_at=None, ended_at=None, message=message)
            _enter(connection, job, lost, "JobLost", now)
    if newer is not None:
        taken += _take_over_others(connection)
        _take_over_outbox(connection)
        left = _submitted_since(connection)
        _skip_given_ids(connection)
    return Restored(held, taken, left)


def attach(connection: sqlite3.Connection, newer: Path) -> None:
    connection.execute("ATTACH ? AS newer", (f"file:{quoted(newer)}?mode=ro",))


def _attempt_since(connection: sqlite3.Connection, job: Job) -> int | None:
    """The number of its latest attempt in the newer database; None if it does not have the job."""
    found = connection.execute(
        "SELECT attempt FROM newer.jobs WHERE id = ? AND submitted_at = ?", (job.id, job.submitted_at)
    ).fetchone()
    return None if found is None else int(found[0])


def _take_over_others(connection: sqlite3.Connection) -> int:
    """Jobs that had ended and were run again since, and jobs that were submitted since and ran or run now."""
    again = connection.execute(
        "SELECT mine.id FROM main.jobs AS mine JOIN newer.jobs AS theirs"
        " ON theirs.id = mine.id AND theirs.submitted_at = mine.submitted_at"
        " WHERE mine.is_live = 0 AND theirs.attempt > mine.attempt"
    ).fetchall()
    for (job,) in again:
        _take_over(connection, job)
    states = ", ".join(f"'{state}'" for state in AT_WORK)
    ran = connection.execute(
        f"SELECT id, group_id, state FROM newer.jobs WHERE (attempt > 0 OR state IN ({states}))"
        " AND id > ? AND id NOT IN (SELECT id FROM main.jobs)",
        (_sequence(connection, "main", "jobs"),),
    ).fetchall()
    for job, group, state in ran:
        if group is not None:
            connection.execute("INSERT OR IGNORE INTO main.groups SELECT * FROM newer.groups WHERE id = ?", (group,))
            connection.execute(
                "INSERT INTO main.group_counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1",
                (group, state),
            )
        connection.execute("INSERT INTO main.jobs SELECT * FROM newer.jobs WHERE id = ?", (job,))
        _take_over(connection, job)
    return len(again) + len(ran)


def _take_over_outbox(connection: sqlite3.Connection) -> None:
    """What was sent since the backup is not sent again, and what is still to be sent is not lost."""
    columns = "token, owner, target, at, event, job, detail, due_at, tries, error, given_up_at"
    connection.execute("DELETE FROM main.outbox")
    connection.execute(f"INSERT INTO main.outbox ({columns}) SELECT {columns} FROM newer.outbox ORDER BY id")


def _submitted_since(connection: sqlite3.Connection) -> list[int]:
    """Jobs that are not taken over."""
    found = connection.execute("SELECT id FROM newer.jobs WHERE id NOT IN (SELECT id FROM main.jobs) ORDER BY id")
    return [row[0] for row in found]


def _take_over(connection: sqlite3.Connection, job: int) -> None:
    columns = [row[1] for row in connection.execute("PRAGMA main.table_info(jobs)") if row[1] != "id"]
    listed = ", ".join(columns)
    connection.execute(
        f"UPDATE main.jobs SET ({listed}) = (SELECT {listed} FROM newer.jobs WHERE id = ?1) WHERE id = ?1", (job,)
    )
    for table in ("attempts", "usage", "links", "memory_samples"):
        connection.execute(f"DELETE FROM main.{table} WHERE job = ?", (job,))
        connection.execute(f"INSERT INTO main.{table} SELECT * FROM newer.{table} WHERE job = ?", (job,))
    connection.execute("DELETE FROM main.events WHERE job = ?", (job,))
    connection.execute(
        "INSERT INTO main.events (job, attempt, at, kind, detail)"
        " SELECT job, attempt, at, kind, detail FROM newer.events WHERE job = ? ORDER BY id",
        (job,),
    )
    connection.execute(
        "INSERT OR IGNORE INTO main.fingerprints SELECT * FROM newer.fingerprints"
        " WHERE hash IN (SELECT hash FROM newer.job_fingerprints WHERE job = ?)",
        (job,),
    )
    connection.execute(
        "INSERT OR REPLACE INTO main.job_fingerprints SELECT * FROM newer.job_fingerprints WHERE job = ?", (job,)
    )
    connection.execute(
        "INSERT OR IGNORE INTO main.environments SELECT * FROM newer.environments WHERE hash ="
        f" (SELECT {rows.ENVIRONMENT_OF_JOB} FROM main.jobs WHERE id = ?)",
        (job,),
    )


def _enter(connection: sqlite3.Connection, job: Job, status: Status, kind: str, now: float) -> None:
    connection.execute(
        "UPDATE jobs SET state = ?, is_live = ?, attempt = ?, position = ?, retried = ?, ooms = ?, status = ?"
        " WHERE id = ?",
        rows.changed_job_row(replace(job, status=status)),
    )
    detail = msgspec.json.encode({"by": BY}).decode()
    connection.execute(
        "INSERT INTO events (job, attempt, at, kind, detail) VALUES (?, ?, ?, ?, ?)",
        (job.id, job.attempt, now, kind, detail),
    )


def _skip_given_ids(connection: sqlite3.Connection) -> None:
    """Ids that were given since the backup belong to jobs that this database does not know."""
    before = _sequence(connection, "main", "jobs")
    for table in ("jobs", "events", "reservations"):
        last = max(_sequence(connection, schema, table) for schema in ("main", "newer"))
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
    after = _sequence(connection, "main", "jobs")
    if after > before:
        row = connection.execute("SELECT value FROM main.settings WHERE name = ?", (SKIPPED_IDS,)).fetchone()
        spans = [] if row is None else _spans.decode(row[0])
        text = msgspec.json.encode([*spans, (before + 1, after)]).decode()
        connection.execute("INSERT OR REPLACE INTO main.settings VALUES (?, ?)", (SKIPPED_IDS, text))


def _sequence(connection: sqlite3.Connection, schema: str, table: str) -> int:
    found = connection.execute(f"SELECT seq FROM {schema}.sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return 0 if found is None else int(found[0])
