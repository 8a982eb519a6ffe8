"""Opens the database file: creates it, migrates it, or refuses it untouched. The only place that connects."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tarmac.errors import TarmacError, Unavailable, UserError
from tarmac.store import schema

if TYPE_CHECKING:
    from collections.abc import Iterator


def connect_writer(path: Path) -> sqlite3.Connection:
    """The only connection that writes. Once the writer's thread runs, only that thread uses it."""
    try:
        _refuse_what_is_not_ours(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            connection.execute("PRAGMA secure_delete = ON")  # nothing of a removed job stays in free pages
            _bring_up_to_date(connection)
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


def connect_reader(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None)
    connection.execute("PRAGMA query_only = 1")
    return connection


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
    reader = sqlite3.connect(f"file:{_quoted(path)}?{how}", uri=True)
    try:
        yield reader
    finally:
        reader.close()
        if not had_index:
            index.unlink(missing_ok=True)


def _has_log(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, step in enumerate(schema.STEPS[version:], version + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {step}; PRAGMA application_id = {schema.APPLICATION_ID};"
            f"PRAGMA user_version = {number}; COMMIT;"
        )


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


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
