"""The store as the controller sees it: one file, one writer, one reader."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import msgspec

from tarmac.core.state import Changes, State
from tarmac.store.database import connect_reader, connect_writer, refused
from tarmac.store.reader import Reader
from tarmac.store.writer import Batch, Writer

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.store.writer import Done


class Store:
    """Raises UserError when the file is not one of ours, is newer, or cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = Writer(connect_writer(path))
        self.reader = Reader(connect_reader(path))

    def load(self) -> State:
        """What lives, as it was when the last commit returned. UserError where the file holds something else."""
        state = State()
        try:
            state.load(self.reader.live_jobs(), next_id=self.reader.next_id())
            for card in self.reader.cards():
                state.load_card(*card)
        except (sqlite3.DatabaseError, msgspec.DecodeError, KeyError, UnicodeDecodeError) as error:
            raise refused(self.path, error) from error
        return state

    def commit(self, batch: Batch, done: Done) -> None:
        self._writer.commit(batch, done)

    def try_to_write(self, done: Done) -> None:
        """Does the disk take anything again?"""
        self._writer.try_to_write(done)

    def size_bytes(self) -> int:
        return self.path.stat().st_size

    def close(self) -> None:
        self.reader.close()
        self._writer.close()


__all__ = ["Batch", "Changes", "Store"]
