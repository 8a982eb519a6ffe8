"""The only thread that writes. A batch is committed as a whole or not at all."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from tarmac.refusal import unavailable
from tarmac.shared import crashpoint
from tarmac.store import outbox, rows
from tarmac.store.accounts import (
    Account,
    MemoryPeak,
    Usage,
    add_accounts,
    add_usage,
    forget_old_peaks,
    remember_peaks,
)
from tarmac.store.database import connect_writer
from tarmac.store.files import DatabaseFiles
from tarmac.store.outbox import OutboxChanges
from tarmac.store.shrink import shrink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tarmac.core.changes import Changes
    from tarmac.core.model.ids import JobId

    Done: TypeAlias = Callable[[Exception | None], object]

KEEP_ANSWERS_S = 86400.0  # far longer than a client repeats a request


QUIET_S = 0.5  # without a commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    owner: str
    token: str
    first_id: int
    count: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """The answer to a request, kept in case the client asks again with the same key."""

    owner: str
    key: str
    at: float
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One GPU, averaged over a minute."""

    at: int
    node: str
    uuid: str
    memory_used_bytes: int | None
    utilization: float | None
    power_w: float | None


@dataclass(slots=True, kw_only=True)
class Batch:
    """Everything that one commit stores."""

    changes: Changes
    environments: dict[str, bytes] = field(default_factory=dict)
    submissions: list[Submission] = field(default_factory=list)
    kept_answers: list[KeptAnswer] = field(default_factory=list)
    removed: list[JobId] = field(default_factory=list)
    settings: dict[str, str | None] = field(default_factory=dict)  # None removes the stored value
    usage: list[Usage] = field(default_factory=list)
    usage_of_attempts: dict[tuple[JobId, int], Usage] = field(default_factory=dict)  # the same, of each attempt
    accounts: list[Account] = field(default_factory=list)
    peaks: list[MemoryPeak] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    samples_from: int | None = None  # older samples are deleted
    outbox: OutboxChanges = field(default_factory=OutboxChanges)

    def __bool__(self) -> bool:
        return bool(
            self.changes
            or self.removed
            or self.settings
            or self.usage
            or self.accounts
            or self.samples
            or self.samples_from
            or self.outbox
        )


class Writer:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect_writer(path)
        self._files = DatabaseFiles(path)
        self._may_shrink = True  # jobs were removed since the last look at the file's size
        self._must_empty_log = True  # after a crash, the WAL file may hold what was removed before
        self._work: SimpleQueue[tuple[Callable[[sqlite3.Connection], None], Done] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def commit(self, batch: Batch, done: Done) -> None:
        """`done` is called in the writer's thread, with the error if the commit failed."""
        self._work.put((lambda connection: self._commit(connection, batch), done))

    def try_to_write(self, done: Done) -> None:
        self._work.put((self._try_to_write, done))

    def has_its_files(self) -> bool:
        """False if they were removed or replaced."""
        return self._files.are_in_place()

    def put_files_back(self) -> None:
        """Raises Refused if that cannot be done. `reopen` is next."""
        self._wait_for(self._files.put_back)

    def reopen(self) -> None:
        """Continue with the files that are in the place now."""
        self._wait_for(self._reopen)

    def close(self) -> None:
        self._work.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while (work := self._next()) is not None:
            task, done = work
            try:
                task(self._connection)
            except Exception as error:  # noqa: BLE001 - passed to the caller of this commit
                done(_translated(error))
            else:
                done(None)

    def _wait_for(self, task: Callable[[sqlite3.Connection], None]) -> None:
        outcome: SimpleQueue[Exception | None] = SimpleQueue()
        self._work.put((task, outcome.put))
        if (error := outcome.get()) is not None:
            raise error

    def _reopen(self, connection: sqlite3.Connection) -> None:
        self._files.clear_away()
        self._connection = connect_writer(self._path)
        self._files = DatabaseFiles(self._path)
        connection.close()  # SQLite removes no file by its name if the database is no longer in its place

    def _try_to_write(self, connection: sqlite3.Connection) -> None:
        _rewrite_something(connection)
        self._files.check()

    def _next(self) -> tuple[Callable[[sqlite3.Connection], None], Done] | None:
        """The next task. If none comes for a moment after a removal, the file is made smaller meanwhile."""
        if self._may_shrink:
            try:
                return self._work.get(timeout=QUIET_S)
            except Empty:
                self._may_shrink = False
                with suppress(sqlite3.Error):  # a commit reports what is wrong with the file
                    if shrink(self._connection):
                        self._must_empty_log = not _empty_log(self._connection)
        return self._work.get()

    def _commit(self, connection: sqlite3.Connection, batch: Batch) -> None:
        crashpoint.reach("controller:before-commit")
        write(connection, batch)
        self._files.check()  # or the commit would be lost with this process
        self._must_empty_log = self._must_empty_log or bool(batch.removed)
        self._may_shrink = self._may_shrink or bool(batch.removed) or batch.samples_from is not None
        if self._must_empty_log:
            self._must_empty_log = not _empty_log(connection)
        crashpoint.reach("controller:after-commit")


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Truncate the WAL file, which still holds pages as they were before. False while a reader is in the way.

    It does not wait for the reader, which may be another program that holds on to the database for hours.
    """
    wait_ms = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError:
        return False  # the commit itself is on disk
    finally:
        connection.execute(f"PRAGMA busy_timeout = {wait_ms}")
    return not is_busy


def write(connection: sqlite3.Connection, batch: Batch) -> None:
    with _transaction(connection):
        _write_all(connection, batch)
        crashpoint.reach("controller:in-commit")


def _rewrite_something(connection: sqlite3.Connection) -> None:
    """Write and drop some pages, to test whether the next commit can succeed."""
    with _transaction(connection):
        connection.execute("CREATE TABLE room (filler BLOB)")
        connection.execute("INSERT INTO room VALUES (zeroblob(65536))")
        connection.execute("DROP TABLE room")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _write_all(connection: sqlite3.Connection, batch: Batch) -> None:
    changes = batch.changes
    if batch.environments:
        connection.executemany("INSERT OR IGNORE INTO environments VALUES (?, ?)", batch.environments.items())
    if changes.new:
        connection.executemany(
            "INSERT INTO jobs"
            " (id, owner, name, state, is_live, attempt, position, submitted_at, group_id, spec, status)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(rows.new_job_row, changes.new),
        )
        connection.executemany(
            "INSERT INTO events (job, attempt, at, kind, detail) VALUES (?, 0, ?, 'JobSubmitted', '{}')",
            [(job.id, job.submitted_at) for job in changes.new],
        )
    new = {job.id for job in changes.new} if changes.changed or changes.edited else set()
    connection.executemany(
        "UPDATE jobs SET state = ?, is_live = ?, attempt = ?, position = ?, retried = ?, ooms = ?, status = ?"
        " WHERE id = ?",
        [rows.changed_job_row(job) for number, job in changes.changed.items() if number not in new],
    )
    connection.executemany(
        "UPDATE jobs SET name = ?, spec = ? WHERE id = ?",
        [rows.edited_job_row(changes.changed[number]) for number in sorted(changes.edited) if number not in new],
    )
    connection.executemany(
        "INSERT INTO events (job, attempt, at, kind, detail) VALUES (?, ?, ?, ?, ?)", map(rows.event_row, changes.story)
    )
    _write_attempts(connection, batch)
    connection.executemany(
        "INSERT INTO submissions (owner, token, first_id, count, at) VALUES (?, ?, ?, ?, ?)",
        [(one.owner, one.token, one.first_id, one.count, one.at) for one in batch.submissions],
    )
    _write_answers(connection, batch.kept_answers)
    connection.executemany(
        "INSERT OR REPLACE INTO gpus (node, uuid, drain, slots) VALUES (?, ?, ?, ?)",
        [rows.gpu_row(*key, *value) for key, value in changes.gpus.items()],
    )
    _write_queue(connection, changes)
    _write_settings(connection, batch.settings)
    add_usage(connection, batch.usage)
    add_accounts(connection, batch.accounts)
    remember_peaks(connection, batch.peaks)
    connection.executemany("INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?)", map(astuple, batch.samples))
    if batch.samples_from is not None:
        connection.execute("DELETE FROM samples WHERE at < ?", (batch.samples_from,))
        forget_old_peaks(connection)
    if batch.outbox:
        outbox.write(connection, batch.outbox)
    _remove(connection, batch.removed)


def _write_attempts(connection: sqlite3.Connection, batch: Batch) -> None:
    if batch.changes.attempts:
        usage = batch.usage_of_attempts
        connection.executemany(
            f"INSERT OR REPLACE INTO attempts ({rows.ATTEMPT_COLUMNS}) VALUES ({', '.join('?' * 17)})",
            [rows.attempt_row(attempt, usage.get((attempt.job, attempt.number))) for attempt in batch.changes.attempts],
        )


def _remove(connection: sqlite3.Connection, numbers: list[JobId]) -> None:
    """Delete jobs, and the environments that no job refers to any longer."""
    if numbers:
        outbox.remove_failed(connection, numbers)
    digests: set[str] = set()
    for number in numbers:
        found = connection.execute(f"SELECT {rows.ENVIRONMENT_OF_JOB} FROM jobs WHERE id = ?", (number,))
        digests.update(row[0] for row in found if row[0] is not None)
        connection.execute("DELETE FROM usage WHERE job = ?", (number,))
        connection.execute("DELETE FROM attempts WHERE job = ?", (number,))
        connection.execute("DELETE FROM jobs WHERE id = ?", (number,))
        connection.execute("DELETE FROM events WHERE job = ?", (number,))
    connection.executemany(
        "DELETE FROM environments WHERE hash = ?1"
        f" AND NOT EXISTS (SELECT 1 FROM jobs WHERE {rows.ENVIRONMENT_OF_JOB} = ?1)",
        [(digest,) for digest in sorted(digests)],
    )


def _write_answers(connection: sqlite3.Connection, kept: list[KeptAnswer]) -> None:
    if kept:
        connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", map(astuple, kept))
        connection.execute("DELETE FROM answers WHERE at < ?", (kept[-1].at - KEEP_ANSWERS_S,))


def _write_queue(connection: sqlite3.Connection, changes: Changes) -> None:
    """The mode of the queue, suspended owners, reservations, and GPU hours."""
    if changes.mode is not None:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('mode', ?)", (rows.mode_text(changes.mode),))
    for owner, suspension in changes.suspended.items():
        if suspension is None:
            connection.execute("DELETE FROM suspensions WHERE owner = ?", (owner,))
        else:
            values = (owner, rows.suspension_text(suspension))
            connection.execute("INSERT OR REPLACE INTO suspensions VALUES (?, ?)", values)
    for number, reservation in changes.reservations.items():
        if reservation is None:
            connection.execute("DELETE FROM reservations WHERE id = ?", (number,))
        else:
            body = rows.reservation_text(reservation)
            connection.execute("INSERT OR REPLACE INTO reservations VALUES (?, ?)", (number, body))
    connection.executemany(
        "INSERT INTO gpu_hours VALUES (?, ?, ?, ?)"
        " ON CONFLICT (hour, owner, project) DO UPDATE SET gpu_s = gpu_s + excluded.gpu_s",
        [(*key, gpu_s) for key, gpu_s in changes.hours.items()],
    )


def _write_settings(connection: sqlite3.Connection, settings: dict[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            connection.execute("DELETE FROM settings WHERE name = ?", (name,))
        else:
            connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


def _translated(error: Exception) -> Exception:
    if isinstance(error, sqlite3.OperationalError):
        return unavailable("store.cannot_write", error=str(error))
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return unavailable("store.damaged", error=str(error))
    return error
