"""Opening the file: made, brought up to date, or refused untouched. The only place that connects."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from tarmac.errors import UserError
from tarmac.store import schema

if TYPE_CHECKING:
    from pathlib import Path


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes. It is used from the writer's thread only, once that runs."""
    _refuse_what_is_not_ours(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 16777216")
        _bring_up_to_date(connection)
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, error) from error
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None)
    connection.execute("PRAGMA query_only = 1")
    return connection


def faults(path: Path) -> list[str]:
    """What SQLite finds wrong with the file; empty when it is sound. Reads the whole of it."""
    try:
        reader = connect_reader(path)
        try:
            found = [row[0] for row in reader.execute("PRAGMA quick_check(5)")]
        finally:
            reader.close()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [] if found == ["ok"] else found


def _refuse_what_is_not_ours(path: Path) -> None:
    """Looked at through a read-only connection, so that a refused file stays as it was."""
    if not path.exists() or path.stat().st_size == 0:
        return
    try:
        reader = connect_reader(path)
        try:
            application_id = reader.execute("PRAGMA application_id").fetchone()[0]
            version = reader.execute("PRAGMA user_version").fetchone()[0]
        finally:
            reader.close()
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, error) from error
    if application_id not in (0, schema.APPLICATION_ID) or (application_id == 0 and version != 0):
        raise UserError(
            f"{path} is a database of another program", hint="move it away, or set TARMAC_HOME to another folder"
        )
    if version > schema.VERSION:
        raise UserError(
            f"{path} was written by a newer Tarmac (schema {version}, this one knows {schema.VERSION})",
            hint="upgrade Tarmac, or set TARMAC_HOME to another folder; the file was not touched",
        )


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, step in enumerate(schema.STEPS[version:], version + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {step}; PRAGMA application_id = {schema.APPLICATION_ID};"
            f"PRAGMA user_version = {number}; COMMIT;"
        )


def _corrupt(path: Path, error: sqlite3.DatabaseError) -> UserError:
    return UserError(
        f"{path} cannot be read as a database: {error}",
        hint="restore it from a backup, or move it away to begin with an empty queue; it was not touched",
    )


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
