"""The only thread that writes. A batch is committed as a whole or not at all."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from tarmac.refusal import unavailable
from tarmac.shared import crashpoint
from tarmac.store.batch import Batch
from tarmac.store.batch_rows import write
from tarmac.store.database.connections import transaction
from tarmac.store.database.database import connect_writer
from tarmac.store.database.files import DatabaseFiles
from tarmac.store.database.shrink import MOST_USED_AFTER_CLEANING, shrink
from tarmac.store.environments.environments import names_in_use

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tarmac.store.environments.secret_files import SecretFiles

    Done: TypeAlias = Callable[[Exception | None], object]


QUIET_S = 0.5  # without a commit


class Writer:
    def __init__(self, path: Path, secrets: SecretFiles) -> None:
        self._path = path
        self._secrets = secrets
        is_new = not path.exists()
        self._connection = connect_writer(path, secrets)
        secrets.sweep(names_in_use(self._connection), is_new=is_new)
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

    def shrink(self) -> None:
        """Return the space of removed jobs, even if that takes a while. Doesn't wait for it."""
        self._work.put((self._shrink, lambda _: None))

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
        self._connection = connect_writer(self._path, self._secrets)
        self._files = DatabaseFiles(self._path)
        connection.close()  # SQLite removes no file by its name if the database is no longer in its place

    def _shrink(self, connection: sqlite3.Connection) -> None:
        if shrink(connection, MOST_USED_AFTER_CLEANING):
            self._must_empty_log = not _empty_log(connection)

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
        for environment in batch.environments.values():
            if environment.secrets is not None:
                self._secrets.keep(environment.secrets)
        unused = write(connection, batch)
        self._files.check()  # or the commit would be lost with this process
        self._must_empty_log = self._must_empty_log or bool(batch.removed)
        self._may_shrink = self._may_shrink or bool(batch.removed) or batch.samples_from is not None
        if self._must_empty_log:
            self._must_empty_log = not _empty_log(connection)
        self._secrets.delete(unused)
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


def _rewrite_something(connection: sqlite3.Connection) -> None:
    """Write and drop some pages, to test whether the next commit can succeed."""
    with transaction(connection):
        connection.execute("CREATE TABLE room (filler BLOB)")
        connection.execute("INSERT INTO room VALUES (zeroblob(65536))")
        connection.execute("DROP TABLE room")


def _translated(error: Exception) -> Exception:
    if isinstance(error, sqlite3.OperationalError):
        return unavailable("store.cannot_write", error=str(error))
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return unavailable("store.damaged", error=str(error))
    return error
