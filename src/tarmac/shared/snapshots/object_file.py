"""Reads objects from the file that stores them: one SQLite database, which other processes may write to meanwhile.

`store/snapshots.py` writes it. The hash of each object is checked on every read.
"""

from __future__ import annotations

import os
import sqlite3
from typing import List, Optional

from tarmac.shared.snapshots.objects import BrokenSnapshot, hash_of

_WAIT_S = 30.0  # for a writer that restarts


class ObjectFile:
    """Raises BrokenSnapshot if the file does not exist."""

    def __init__(self, path: str) -> None:
        if not os.path.exists(path):
            raise BrokenSnapshot(f"{path} does not exist")
        self._connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA query_only = ON")

    def read(self, digest: bytes) -> bytes:
        data = self.look_up(digest)
        if data is None:
            raise BrokenSnapshot(f"object {digest.hex()} is missing")
        if hash_of(data) != digest:
            raise BrokenSnapshot(f"object {digest.hex()} is damaged")
        return data

    def look_up(self, digest: bytes) -> Optional[bytes]:
        """The bytes as they are stored; None if they are not."""
        try:
            row = self._connection.execute("SELECT data FROM objects WHERE hash = ?", (digest,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise BrokenSnapshot(f"the snapshots cannot be read: {error}") from None
        return None if row is None else bytes(row[0])

    def has(self, digest: bytes) -> bool:
        try:
            row = self._connection.execute("SELECT 1 FROM objects WHERE hash = ?", (digest,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise BrokenSnapshot(f"the snapshots cannot be read: {error}") from None
        return row is not None

    def is_intact(self, digest: bytes) -> bool:
        data = self.look_up(digest)
        return data is not None and hash_of(data) == digest

    def damaged(self) -> List[bytes]:
        """The objects whose bytes are not those of their hash, of all snapshots. Reads the whole file."""
        try:
            rows = self._connection.execute("SELECT hash, data FROM objects")
            return [bytes(digest) for digest, data in rows if not isinstance(data, bytes) or hash_of(data) != digest]
        except sqlite3.DatabaseError as error:
            raise BrokenSnapshot(f"the snapshots cannot be read: {error}") from None

    def close(self) -> None:
        self._connection.close()
