"""The files of an open database: whether they are still in their place, and how they are put back.

SQLite goes on writing to files that were removed, renamed or replaced: commits would succeed, and be lost with the
process. So the writer looks at the files after every commit, before anything is acknowledged. Everything that was ever
committed can still be read through the open connection, and is copied to a new file.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from tarmac.refusal import unavailable

_SUFFIXES = ("", "-wal", "-shm")


class FilesRemoved(Exception):
    """The commit is in files that are no longer in their place. `Store.restore` puts them back."""


class DatabaseFiles:
    """As they are when the database was just opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._paths = [f"{path}{suffix}" for suffix in _SUFFIXES]
        self._known = self._look()
        self._own = {None, self._known[0]}  # what may be in the place without being another's
        self._saved: Path | None = None  # a copy, made because another file has taken the place

    def are_in_place(self) -> bool:
        return self._look() == self._known

    def check(self) -> None:
        if not self.are_in_place():
            raise FilesRemoved(str(self.path))

    def put_back(self, connection: sqlite3.Connection) -> None:
        """Copy everything to a new file in the old place. Raises Refused, with a reason, if that cannot be done."""
        if self._saved is not None and self._is_replaced():
            raise unavailable("store.replaced", path=self.path, saved=self._saved)
        try:
            copy = self._copy(connection)
            if self._is_replaced():
                self._saved = self.path.with_name(f"{self.path.name}.saved-{time.strftime('%Y%m%dT%H%M%S')}")
                copy.rename(self._saved)
                self._take_log_away()
                raise unavailable("store.replaced", path=self.path, saved=self._saved)
            self._own.add(_identity(str(copy)))
            copy.rename(self.path)
            sync(self.path.parent)
        except (OSError, sqlite3.Error) as error:
            raise unavailable("store.removed", path=self.path, error=str(error)) from error

    def clear_away(self) -> None:
        """Remove what belongs to the earlier file, before the new one is opened."""
        for path in self._paths[1:]:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _take_log_away(self) -> None:
        """Remove our own WAL file, or it would be applied to the other database when that is opened."""
        for path, known in zip(self._paths[1:], self._known[1:], strict=True):
            if _identity(path) == known is not None:
                os.unlink(path)

    def _copy(self, connection: sqlite3.Connection) -> Path:
        copy = self.path.with_name(f"{self.path.name}.copy")
        copy.unlink(missing_ok=True)
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        target = sqlite3.connect(copy)
        try:
            connection.backup(target)
        finally:
            target.close()
        sync(copy)
        return copy

    def _is_replaced(self) -> bool:
        """True if there is a database in the place that is not ours."""
        return _identity(str(self.path)) not in self._own

    def _look(self) -> list[tuple[int, int] | None]:
        return [_identity(path) for path in self._paths]


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def sync(path: Path) -> None:
    """Wait until a file, or the names in a directory, are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
