"""The objects of a stored tree, and packs of them that fit into a frame. Reads the disk: for a thread."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import CHUNK_BYTES, CHUNKS, DIRECTORY, chunks_of, packed, parse_directory


class TreeObject(NamedTuple):
    hash: bytes
    bytes: int  # about


class Pack(NamedTuple):
    """Objects one after the other. A single one that is larger than asked for comes as it is."""

    objects: tuple[TreeObject, ...]
    data: bytes
    is_packed: bool


def objects_of(path: str, tree: str) -> list[TreeObject]:
    """Every object of the tree, each once. Raises BrokenSnapshot.

    Directories come first, the upper ones before those in them: a node that was sent only some of them knows that it
    needs the others, too.
    """
    directories: dict[bytes, int] = {}
    lists: dict[bytes, int] = {}
    contents: dict[bytes, int] = {}
    with closing(ObjectFile(path)) as objects:
        waiting = [bytes.fromhex(tree)]
        for digest in waiting:  # grows meanwhile
            if digest in directories:
                continue
            data = objects.read(digest)
            directories[digest] = len(data)
            for entry in parse_directory(data):
                if entry.kind == DIRECTORY:
                    waiting.append(entry.hash)
                elif entry.kind == CHUNKS:
                    lists[entry.hash] = 0
                else:
                    contents[entry.hash] = entry.size
        for digest in lists:
            data = objects.read(digest)
            lists[digest] = len(data)
            contents |= dict.fromkeys(chunks_of(data), CHUNK_BYTES)
    found = {**contents, **lists, **directories}  # the same bytes may be a file as well
    order = dict.fromkeys([*directories, *lists, *contents])
    return [TreeObject(digest, found[digest]) for digest in order]


def next_pack(path: str, objects: list[TreeObject], most_bytes: int) -> Pack:
    """The first of these objects, as many as fit. Raises BrokenSnapshot."""
    taken: list[TreeObject] = []
    parts: list[bytes] = []
    left = most_bytes
    with closing(ObjectFile(path)) as file:
        for one in objects:
            data = file.read(one.hash)
            if not taken and len(data) > most_bytes:
                return Pack((one,), data, is_packed=False)
            if len(data) > left:
                break
            taken.append(one)
            parts.append(packed(one.hash, data))
            left -= len(parts[-1])
    return Pack(tuple(taken), b"".join(parts), is_packed=True)
