"""Stores the objects of snapshots in one SQLite file beside the database. Used by one thread at a time.

A batch of objects is one transaction, on disk before its upload is answered: after a crash, an object is there as a
whole or not at all. A tree is entered once all its objects are there. `shared/snapshots/object_file.py` reads them.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tarmac.refusal import Refused, invalid, unavailable
from tarmac.shared import crashpoint
from tarmac.shared.snapshots.objects import (
    CHUNKS,
    DIRECTORY,
    HASH_BYTES,
    BrokenSnapshot,
    chunks_of,
    hash_of,
    parse_directory,
    unpacked,
)
from tarmac.store.database.connections import transaction, used_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tarmac.shared.snapshots.objects import Entry

APPLICATION_ID = 0x7461726F
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS objects (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        data BLOB NOT NULL
    );
    CREATE TABLE IF NOT EXISTS trees (
        hash BLOB PRIMARY KEY,
        bytes INTEGER NOT NULL,     -- of its files; files that it shares with other trees count in each
        at REAL NOT NULL            -- when a job last used it, or it was uploaded
    ) WITHOUT ROWID;
"""
# One that is there already is replaced only if it is damaged.
_ADD_OBJECT = (
    "INSERT INTO objects (hash, data) VALUES (?, ?)"
    " ON CONFLICT (hash) DO UPDATE SET data = excluded.data WHERE data != excluded.data"
)
MOST_ENTRIES = 5_000_000  # files, links and directories in one tree
_AT_ONCE = 500  # hashes in one query
_FREED_PAGES = 2000  # given back to the disk in one step


class StoredTree(NamedTuple):
    hash: bytes
    bytes: int
    at: float


class _Below(NamedTuple):
    bytes: int
    entries: int  # the same object counts each time: a checkout creates it each time


class _Contents(NamedTuple):
    """What is below a directory."""

    missing: set[bytes]
    below: _Below


class SnapshotStore:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def exists(self) -> bool:
        return self._path.exists()

    def trees(self) -> list[StoredTree]:
        if not self.exists():
            return []
        with self._open() as connection:
            return [StoredTree(*row) for row in connection.execute("SELECT hash, bytes, at FROM trees ORDER BY at")]

    def missing(self, hashes: bytes) -> list[int]:
        """Which of these objects are not stored, by their places. `hashes` has one after the other."""
        if len(hashes) % HASH_BYTES:
            raise invalid("snapshot.cut_off")
        wanted = [hashes[start : start + HASH_BYTES] for start in range(0, len(hashes), HASH_BYTES)]
        with self._open() as connection:
            known = self._known(connection, wanted)
        return [place for place, digest in enumerate(wanted) if digest not in known]

    def add(self, pack: bytes) -> int:
        """Store the objects of a pack; all of them are on disk when this returns."""
        try:
            objects = list(unpacked(pack))
        except BrokenSnapshot as error:
            raise invalid("snapshot.malformed", trouble=str(error)) from None
        with self._open() as connection, transaction(connection):
            crashpoint.reach("snapshots:before-objects")
            connection.executemany(_ADD_OBJECT, objects)
            crashpoint.reach("snapshots:before-commit")
        crashpoint.reach("snapshots:after-commit")
        return len(objects)

    def add_tree(self, tree: bytes, most_bytes: int, at: float) -> StoredTree | None:
        """Enter a tree; None if some of its objects are missing. Refuses one that is too large or malformed."""
        with self._open() as connection:
            found = self._contents(connection, tree)
            if found.missing:
                return None
            size, entries = found.below
            if size > most_bytes:
                raise invalid("snapshot.too_large", size=size, limit=most_bytes)
            if entries > MOST_ENTRIES:
                raise invalid("snapshot.too_many", entries=entries, most=MOST_ENTRIES)
            crashpoint.reach("snapshots:before-tree")
            connection.execute("INSERT OR REPLACE INTO trees VALUES (?, ?, ?)", (tree, size, at))
            crashpoint.reach("snapshots:after-tree")
        return StoredTree(tree, size, at)

    def touch(self, trees: Iterable[bytes], at: float) -> None:
        """Note when they were last used."""
        if self.exists():
            with self._open() as connection, transaction(connection):
                connection.executemany("UPDATE trees SET at = ? WHERE hash = ?", [(at, tree) for tree in trees])

    def remove(self, trees: Iterable[bytes]) -> int:
        """Remove trees and the objects that no other tree has; return the number of these objects.

        The trees go first: if this is interrupted, objects are left over, and the next removal finds them.
        """
        if not self.exists():
            return 0
        with self._open() as connection:
            crashpoint.reach("snapshots:before-remove")
            connection.executemany("DELETE FROM trees WHERE hash = ?", [(tree,) for tree in trees])
            crashpoint.reach("snapshots:after-remove")
            needed = self._reachable(connection, [row[0] for row in connection.execute("SELECT hash FROM trees")])
            unused = [digest for (digest,) in connection.execute("SELECT hash FROM objects") if digest not in needed]
            with transaction(connection):
                connection.executemany("DELETE FROM objects WHERE hash = ?", [(digest,) for digest in unused])
                crashpoint.reach("snapshots:before-sweep")
            self._give_back(connection)
        return len(unused)

    def drop(self, damaged: Iterable[bytes]) -> list[bytes]:
        """Remove damaged objects and every tree that is not complete; return these trees. Their other objects stay.

        This is one transaction: a tree that lacks an object must not count as stored, or a job with it fails.
        """
        if not self.exists():
            return []
        with self._open() as connection, transaction(connection):
            connection.executemany("DELETE FROM objects WHERE hash = ?", [(digest,) for digest in damaged])
            crashpoint.reach("snapshots:after-drop-objects")
            trees = [row[0] for row in connection.execute("SELECT hash FROM trees")]
            broken = [tree for tree in trees if not self._is_complete(connection, tree)]
            connection.executemany("DELETE FROM trees WHERE hash = ?", [(tree,) for tree in broken])
            crashpoint.reach("snapshots:before-drop-commit")
        return broken

    def _is_complete(self, connection: sqlite3.Connection, tree: bytes) -> bool:
        try:
            return not self._contents(connection, tree).missing
        except Refused:
            return False  # malformed

    def size(self) -> int:
        """Bytes of the file, without those that are free in it."""
        if not self.exists():
            return 0
        with self._open() as connection:
            return used_bytes(connection)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection. Raises Refused if the file cannot be read or written; the next call opens it again."""
        try:
            if self._connection is None or not self.exists():
                self.close()
                self._connection = _connect(self._path)
            yield self._connection
        except sqlite3.Error as error:
            self.close()
            raise unavailable("snapshot.store", path=str(self._path), trouble=str(error)) from None

    @staticmethod
    def _known(connection: sqlite3.Connection, hashes: list[bytes]) -> set[bytes]:
        known: set[bytes] = set()
        for start in range(0, len(hashes), _AT_ONCE):
            some = hashes[start : start + _AT_ONCE]
            query = f"SELECT hash FROM objects WHERE hash IN ({', '.join('?' * len(some))})"  # noqa: S608  question marks only
            known |= {row[0] for row in connection.execute(query, some)}
        return known

    def _contents(self, connection: sqlite3.Connection, tree: bytes) -> _Contents:
        """Walk all directories of the tree, each once."""
        known: dict[bytes, _Below] = {}
        files: set[bytes] = set()
        missing: set[bytes] = set()

        def below(directory: bytes) -> _Below:
            if directory in known:
                return known[directory]
            known[directory] = _Below(0, 0)
            data = _read(connection, directory)
            if data is None:
                missing.add(directory)
                return known[directory]
            size = count = 0
            for entry in parse_directory(data):
                count += 1
                if entry.kind == DIRECTORY:
                    inner = below(entry.hash)
                    size += inner.bytes
                    count += inner.entries
                    continue
                size += entry.size
                files.add(entry.hash)
                if entry.kind == CHUNKS and (listed := _read(connection, entry.hash)) is not None:
                    files.update(chunks_of(listed))
            known[directory] = _Below(size, count)
            return known[directory]

        try:
            total = below(tree)
        except (BrokenSnapshot, RecursionError) as error:
            raise invalid("snapshot.malformed", trouble=str(error)) from None
        missing |= files - self._known(connection, list(files))
        return _Contents(missing, total)

    def objects_of(self, tree: bytes) -> frozenset[bytes]:
        """Every object of this tree."""
        with self._open() as connection:
            return frozenset(self._reachable(connection, [tree]))

    @staticmethod
    def _reachable(connection: sqlite3.Connection, trees: Iterable[bytes]) -> set[bytes]:
        """Every object of these trees."""
        needed: set[bytes] = set()
        waiting = list(trees)
        while waiting:
            directory = waiting.pop()
            if directory in needed:
                continue
            needed.add(directory)
            for entry in _entries(connection, directory):
                if entry.kind == DIRECTORY:
                    waiting.append(entry.hash)
                elif entry.hash not in needed:
                    needed.add(entry.hash)
                    if entry.kind == CHUNKS:
                        needed.update(chunks_of(_read(connection, entry.hash) or b""))
        return needed

    @staticmethod
    def _give_back(connection: sqlite3.Connection) -> None:
        while connection.execute("PRAGMA freelist_count").fetchone()[0]:
            connection.execute(f"PRAGMA incremental_vacuum({_FREED_PAGES})").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def merge(path: Path, other: Path) -> bool:
    """Add the objects and trees of another file, all or none. False if this one is damaged."""
    try:
        with closing(_connect(path)) as connection:
            connection.execute("ATTACH ? AS other", (str(other),))
            with transaction(connection):
                connection.execute("INSERT OR IGNORE INTO objects (hash, data) SELECT hash, data FROM other.objects")
                connection.execute("INSERT OR IGNORE INTO trees SELECT hash, bytes, at FROM other.trees")
            connection.execute("DETACH other")
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            return False
        raise
    return True


def _entries(connection: sqlite3.Connection, directory: bytes) -> list[Entry]:
    """A damaged directory has none: what only it refers to cannot be used."""
    data = _read(connection, directory)
    try:
        return [] if data is None else parse_directory(data)
    except BrokenSnapshot:
        return []


def _read(connection: sqlite3.Connection, digest: bytes) -> bytes | None:
    """None if it is missing or damaged: then the client sends it again."""
    row = connection.execute("SELECT data FROM objects WHERE hash = ?", (digest,)).fetchone()
    if row is None:
        return None
    if hash_of(row[0]) != digest:
        connection.execute("DELETE FROM objects WHERE hash = ?", (digest,))
        return None
    return bytes(row[0])


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before the first table
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection
