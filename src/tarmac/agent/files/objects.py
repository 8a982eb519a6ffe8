"""Stores the objects of snapshots on a node that is not the controller's machine. For a file helper.

They come over the link, each is checked against its name before it is stored, and a piece is stored as a whole or not
at all. What a power failure takes is sent again: the controller asks what is missing before each start. The file is
read by `shared/snapshots/object_file.py`. On the controller's machine, `store/snapshots.py` writes it instead.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from base64 import b64decode
from contextlib import closing
from typing import TYPE_CHECKING, Callable, List, Optional, Set

from tarmac.shared import crashpoint
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import (
    CHUNKS,
    DIRECTORY,
    HASH_BYTES,
    BrokenSnapshot,
    hash_of,
    parse_directory,
    unpacked,
)

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import (
        AddObjectPartFrame,
        AddObjectsFrame,
        KeepObjectsFrame,
        MissingObjectsFrame,
    )
    from tarmac.shared.frames.to_controller import ObjectsAddedFrame, ObjectsKeptFrame, ObjectsMissingFrame

_SCHEMA = "CREATE TABLE IF NOT EXISTS objects (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL)"
_ADD = (
    "INSERT INTO objects (hash, data) VALUES (?, ?)"
    " ON CONFLICT (hash) DO UPDATE SET data = excluded.data WHERE data != excluded.data"
)
_PART = ".part"  # of the object that is being sent, beside the file
_WAIT_S = 5.0  # for another helper that writes
_FULL = "full"  # in what SQLite says of a full disk


def missing_objects(request: MissingObjectsFrame) -> ObjectsMissingFrame:
    """With `verify`, an object that is damaged on the disk is missing, too."""
    hashes = b64decode(request["hashes"])
    wanted = [hashes[start : start + HASH_BYTES] for start in range(0, len(hashes), HASH_BYTES)]
    places = list(range(len(wanted)))
    try:
        with closing(ObjectFile(request["objects"])) as objects:
            has = objects.is_intact if request["verify"] else objects.has
            places = [place for place, digest in enumerate(wanted) if not has(digest)]
    except BrokenSnapshot:
        pass  # nothing was sent yet, or the file is damaged: then adding makes a new one
    return {"type": "objects_missing", "ref": request.get("ref"), "places": places}


def add_objects(request: AddObjectsFrame) -> ObjectsAddedFrame:
    def add() -> None:
        objects = list(unpacked(b64decode(request["pack"])))
        with closing(_connect(request["objects"])) as connection, connection:
            crashpoint.reach("objects:before-add")
            connection.executemany(_ADD, objects)
            crashpoint.reach("objects:before-commit")

    return _added(add, request.get("ref"))


def add_object_part(request: AddObjectPartFrame) -> ObjectsAddedFrame:
    """Part of an object that is too large for one frame. With the last one, the object is checked and stored."""
    path, digest = request["objects"] + _PART, bytes.fromhex(request["hash"])

    def add() -> None:
        data = b64decode(request["data"])
        _write_part(path, request["offset"], data)
        if request["offset"] + len(data) < request["size"]:
            return
        with open(path, "rb") as file:
            whole = file.read()
        os.unlink(path)
        if hash_of(whole) != digest:
            raise BrokenSnapshot(f"the content of object {digest.hex()} does not match its name")
        with closing(_connect(request["objects"])) as connection, connection:
            connection.execute(_ADD, (digest, whole))
            crashpoint.reach("objects:before-commit")

    return _added(add, request.get("ref"))


def keep_objects(request: KeepObjectsFrame) -> ObjectsKeptFrame:
    """Remove all objects that none of these trees has."""
    removed = 0
    if os.path.exists(request["objects"]):
        with closing(_connect(request["objects"])) as connection:
            needed = _reachable(connection, [bytes.fromhex(tree) for tree in request["trees"]])
            rows = connection.execute("SELECT hash FROM objects")
            unused = [(digest,) for (digest,) in rows if digest not in needed]
            with connection:
                connection.executemany("DELETE FROM objects WHERE hash = ?", unused)
            removed = len(unused)
            if removed:
                connection.execute("PRAGMA incremental_vacuum").fetchall()
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return {"type": "objects_kept", "ref": request.get("ref"), "removed": removed}


def _added(add: Callable[[], None], ref: Optional[int]) -> ObjectsAddedFrame:
    answer: ObjectsAddedFrame = {
        "type": "objects_added", "ref": ref, "error": None, "is_full": False, "is_broken": False,
    }  # fmt: skip
    try:
        add()
    except (BrokenSnapshot, FileNotFoundError) as error:
        answer["error"], answer["is_broken"] = str(error), True
    except sqlite3.Error as error:
        answer["error"], answer["is_full"] = str(error), _FULL in str(error)
    except OSError as error:
        answer["error"], answer["is_full"] = error.strerror or str(error), error.errno in (errno.ENOSPC, errno.EDQUOT)
    return answer


def _write_part(path: str, offset: int, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (0 if offset else os.O_TRUNC)
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.seek(offset)
        file.write(data)


def _connect(path: str) -> sqlite3.Connection:
    try:
        return _opened(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:  # damaged: everything in it can be sent again
        for end in ("", "-wal", "-shm"):
            if os.path.exists(path + end):
                os.unlink(path + end)
        return _opened(path)


def _opened(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_S)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before the first table
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _reachable(connection: sqlite3.Connection, trees: List[bytes]) -> Set[bytes]:
    """Every object of these trees, as far as their directories are here."""
    needed: Set[bytes] = set()
    waiting = list(trees)
    while waiting:
        directory = waiting.pop()
        if directory in needed:
            continue
        needed.add(directory)
        try:
            entries = parse_directory(_read(connection, directory))
        except BrokenSnapshot:
            continue
        for entry in entries:
            if entry.kind == DIRECTORY:
                waiting.append(entry.hash)
                continue
            needed.add(entry.hash)
            if entry.kind == CHUNKS:
                listed = _read(connection, entry.hash)
                needed.update(listed[start : start + HASH_BYTES] for start in range(0, len(listed), HASH_BYTES))
    return needed


def _read(connection: sqlite3.Connection, digest: bytes) -> bytes:
    row = connection.execute("SELECT data FROM objects WHERE hash = ?", (digest,)).fetchone()
    return b"" if row is None else bytes(row[0])
