"""The store: one file, one writer, one reader."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import msgspec

from tarmac.core.changes import Changes
from tarmac.core.state import State
from tarmac.store.batch import Batch
from tarmac.store.database.database import connect_reader, refused
from tarmac.store.environments.environments import pack_environment
from tarmac.store.environments.secret_files import SecretFiles
from tarmac.store.reader import Reader
from tarmac.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tarmac.store.environments.environments import PackedEnvironment
    from tarmac.store.writer import Done

HOUR_S = 3600
HOURS_LOOKED_AT = 10 * 7 * 24  # ten weeks of GPU time; older hours no longer matter
DURATIONS_LOOKED_AT = 2000  # ended jobs from which runtimes are learned


class Store:
    """Raises UserError if the file is not a Tarmac database, is newer, or cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._secrets = SecretFiles(path)
        self._writer = Writer(path, self._secrets)
        self.reader = Reader(connect_reader(path), self._secrets)
        self.reader.last_event()  # SQLite opens the WAL file by its name when it first reads; later it may be gone

    def load(self, now: float = 0.0) -> State:
        """The live state as of the last commit. Raises UserError if the file contains something else."""
        state = State()
        try:
            state.load_suspensions(self.reader.suspensions())
            state.load(self.reader.live_jobs(), next_id=self.reader.next_id(), now=now)
            for gpu in self.reader.gpus():
                state.load_gpu(*gpu)
            for name, drain in self.reader.node_drains():
                state.load_node(name, drain)
            if (mode := self.reader.mode()) is not None:
                state.load_mode(mode)
            for reservation in self.reader.reservations():
                state.load_reservation(reservation)
            state.next_reservation = max(state.next_reservation, self.reader.next_reservation())
        except (sqlite3.DatabaseError, msgspec.DecodeError, KeyError, UnicodeDecodeError) as error:
            raise refused(self.path, error) from error
        return state

    def load_past(self, state: State, now: float) -> None:
        """Load the GPU time of the last weeks, for shares and limits, and past runtimes, for estimates."""
        try:
            state.load_hours(self.reader.gpu_hours(int(now) // HOUR_S - HOURS_LOOKED_AT), now)
            state.load_runtimes(self.reader.ended_jobs(DURATIONS_LOOKED_AT))
        except (sqlite3.DatabaseError, msgspec.DecodeError, KeyError, UnicodeDecodeError) as error:
            raise refused(self.path, error) from error

    def pack_environment(self, variables: dict[str, str], missing: Iterable[str] = ()) -> PackedEnvironment:
        """For a batch. The variables that look secret are kept apart; `missing` are secrets without a value."""
        return pack_environment(variables, self._secrets.key, missing)

    def snapshot(self) -> Reader:
        """A reader for another thread, which closes it. It sees the last commit, and no later one."""
        connection = connect_reader(self.path, is_for_another_thread=True)
        connection.execute("BEGIN")
        snapshot = Reader(connection, self._secrets)
        snapshot.last_event()  # the first read decides what a transaction sees
        return snapshot

    def commit(self, batch: Batch, done: Done) -> None:
        self._writer.commit(batch, done)

    def try_to_write(self, done: Done) -> None:
        """Test whether the disk can be written again."""
        self._writer.try_to_write(done)

    def shrink(self) -> None:
        """Make the file smaller, after many jobs were removed."""
        self._writer.shrink()

    def has_its_files(self) -> bool:
        """False if they were removed or replaced while they are in use."""
        return self._writer.has_its_files()

    def restore(self) -> None:
        """Put the files back, with everything that was committed. Raises Refused if that cannot be done.

        Blocks: nothing may be read or answered meanwhile.
        """
        self._writer.put_files_back()
        self._writer.reopen()
        fresh = connect_reader(self.path)
        self.reader.close()
        self.reader.use(fresh)
        self.reader.last_event()

    def size_bytes(self) -> int:
        """The database with its WAL and the index of that, as `du` would count them."""
        return sum(_size(f"{self.path}{suffix}") for suffix in ("", "-wal", "-shm"))

    def close(self) -> None:
        self.reader.close()
        self._writer.close()


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


__all__ = ["Batch", "Changes", "Store"]
