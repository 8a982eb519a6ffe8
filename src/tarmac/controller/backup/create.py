"""Writes a backup while the controller runs, or while it does not. It reads the database as of one moment.

SQLite lets others commit meanwhile. Secrets are copied before and after the database, because they are on disk before
the commit that refers to them, and are deleted after the last one that did.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac import __version__
from tarmac.controller.backup.archive import CONFIG, DATABASE, LOGS, SECRETS, SNAPSHOTS, ArchiveWriter
from tarmac.refusal import invalid
from tarmac.shared import crashpoint
from tarmac.store.database.database import connect_reader, copy_database, inspect

if TYPE_CHECKING:
    from typing import BinaryIO


class Wanted(NamedTuple):
    with_logs: bool
    with_snapshots: bool


def write_backup(file: BinaryIO, state: Path, config: Path, wanted: Wanted, scratch: Path) -> dict[str, Any]:
    """Returns what it is about. `scratch` is a file name for a copy of the database, which is deleted again."""
    database = state / DATABASE
    if not database.exists():
        raise invalid("backup.no_database", state=state)
    inspect(database)
    archive, secrets = ArchiveWriter(file), state / SECRETS
    saved = {name for name in _names(secrets) if archive.add_file(f"{SECRETS}/{name}", secrets / name)}
    about: dict[str, Any] = {"version": __version__, "at": time.time()}
    try:
        _copy(database, scratch)
        about |= _about(scratch)
        archive.add_file(DATABASE, scratch)
        crashpoint.reach("keep:in-backup")
        for name in _names(secrets):
            if name not in saved:
                archive.add_file(f"{SECRETS}/{name}", secrets / name)
        archive.add_file(CONFIG, config)
        if wanted.with_snapshots and (state / SNAPSHOTS).exists():
            _copy(state / SNAPSHOTS, scratch)
            archive.add_file(SNAPSHOTS, scratch)
        if wanted.with_logs:
            for name in _names(state / LOGS):
                archive.add_file(f"{LOGS}/{name}", state / LOGS / name)
    finally:
        remove_scratch(str(scratch))
    archive.finish(about)
    return about


def remove_scratch(path: str) -> None:
    """Remove the copy of the database. SQLite leaves its journal if the disk is full, or if it is killed."""
    for suffix in ("", "-journal"):
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


def _copy(database: Path, target: Path) -> None:
    remove_scratch(str(target))
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    copy_database(database, target)


def _about(database: Path) -> dict[str, Any]:
    with closing(connect_reader(database)) as connection:
        schema = connection.execute("PRAGMA user_version").fetchone()[0]
        live, every = connection.execute("SELECT coalesce(sum(is_live), 0), count(*) FROM jobs").fetchone()
    return {"schema": schema, "jobs": every, "live": live}


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except FileNotFoundError:
        return []
