"""Opens the database file: creates it, migrates it, or refuses it untouched. The only place that connects."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tarmac.errors import TarmacError, Unavailable, UserError
from tarmac.store.database import schema
from tarmac.store.environments.environments import move_secrets_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.store.environments.secret_files import SecretFiles

MOST_FAULTS = 2**31 - 1  # each link may be a false alarm
_SECRETS_APART = 8  # the step from which on secrets are in files


def connect_writer(path: Path, secrets: SecretFiles) -> sqlite3.Connection:
    """The only connection that writes. Once the writer's thread runs, only that thread uses it."""
    try:
        _refuse_what_is_not_ours(path)
        connection = sqlite3.connect(f"file:{quoted(path)}", uri=True, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            connection.execute("PRAGMA secure_delete = ON")  # nothing of a removed job stays in free pages
            _bring_up_to_date(connection, secrets)
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        raise refused(path, error) from error
    return connection


def inspect(path: Path) -> None:
    """Raises UserError if the file is not a Tarmac database, is newer, or cannot be read. Changes nothing."""
    try:
        _refuse_what_is_not_ours(path)
    except sqlite3.DatabaseError as error:
        raise refused(path, error) from error


def connect_reader(path: Path, *, is_for_another_thread: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quoted(path)}?mode=ro", uri=True, isolation_level=None, check_same_thread=not is_for_another_thread
    )
    connection.execute("PRAGMA query_only = 1")
    return connection


def copy_database(path: Path, target: Path) -> None:
    """Write all of it, as of this moment, to a file that is empty. Others may commit meanwhile."""
    connection = sqlite3.connect(f"file:{quoted(path)}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:  # this file is only read
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        raise refused(path, error) from error
    finally:
        connection.close()


def _refuse_what_is_not_ours(path: Path) -> None:
    if not path.exists():
        return
    if path.stat().st_size == 0:
        if _has_log(path):  # SQLite would delete it, although it holds the newest commits
            raise sqlite3.DatabaseError("the file is empty, but the log beside it is not")
        return
    with _looking_at(path) as reader:
        application_id = reader.execute("PRAGMA application_id").fetchone()[0]
        version = reader.execute("PRAGMA user_version").fetchone()[0]
        # A file without any program's mark is ours if Tarmac was killed before it created the first table.
        is_begun = application_id == version == 0 and not reader.execute("SELECT 1 FROM sqlite_master").fetchone()
        page_bytes = reader.execute("PRAGMA page_size").fetchone()[0]
    if path.stat().st_size % page_bytes and not _has_log(path):
        raise sqlite3.DatabaseError("the file is truncated")  # by less than a page, which SQLite reads as zeros
    if application_id != schema.APPLICATION_ID and not is_begun:
        raise UserError(
            f"{path} is a database of another program", hint="move it away, or set TARMAC_HOME to another directory"
        )
    if version > schema.VERSION:
        raise UserError(
            f"{path} was written by a newer Tarmac (schema {version}; this version supports {schema.VERSION})",
            hint="upgrade Tarmac, or set TARMAC_HOME to another directory; the file was not changed",
        )


@contextmanager
def _looking_at(path: Path) -> Iterator[sqlite3.Connection]:
    """Read without writing: a refused file stays as it was, and no other file appears beside it."""
    index = Path(f"{path}-shm")
    had_index = index.exists()
    # The newest data may be only in the WAL file, and SQLite must create an index file to read that.
    how = "mode=ro" if _has_log(path) else "immutable=1"
    reader = sqlite3.connect(f"file:{quoted(path)}?{how}", uri=True)
    try:
        yield reader
    finally:
        reader.close()
        if not had_index:
            index.unlink(missing_ok=True)


def _has_log(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _bring_up_to_date(connection: sqlite3.Connection, secrets: SecretFiles) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, step in enumerate(schema.STEPS[version:], version + 1):
        connection.executescript(f"BEGIN IMMEDIATE; {step}")
        if number == _SECRETS_APART:
            move_secrets_out(connection, secrets)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    if 0 < version < _SECRETS_APART:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # or the file would contain the secrets until later


def damage(connection: sqlite3.Connection) -> str | None:
    """What SQLite finds wrong with the file; None if nothing."""
    found = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MOST_FAULTS})") if row[0] != "ok"]
    return next((one for one in found if not _is_false_alarm(connection, one)), None)


def _is_false_alarm(connection: sqlite3.Connection, found: str) -> bool:
    """SQLite 3.40 reports NULL in a column that has values: see `versions/v9`."""
    table, _, column = found.removeprefix("NULL value in ").partition(".")
    if not (table.isidentifier() and column.isidentifier()):
        return False
    # Not IS NULL: SQLite would trust the constraint instead of looking.
    return connection.execute(f"SELECT 1 FROM {table} WHERE typeof({column}) = 'null' LIMIT 1").fetchone() is None


def refused(path: Path, error: Exception) -> TarmacError:
    """Why the file cannot be used: it is damaged, the disk is full, or permissions are missing."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return UserError(
            f"{path} cannot be read as a database: {error}",
            hint="restore it from a backup, or move it away to start with an empty queue; the file was not changed",
        )
    return Unavailable(
        f"{path} cannot be opened: {error}", hint="free some space on the disk, and check that you may write to it"
    )


def quoted(path: Path) -> str:
    """A path in a URI."""
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
