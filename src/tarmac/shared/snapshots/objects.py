"""The objects of a snapshot: contents of files and directories, each named by the hash of its bytes.

A directory lists its entries, sorted by name, and names the object of each. Equal files and equal directories are the
same object, so a tree with one changed file adds this file and the directories above it. A snapshot is named by the
hash of its top directory. A large file is cut into chunks, and its object lists them: no object is large.
"""

from __future__ import annotations

from _blake2 import blake2b

TYPE_CHECKING = False  # `typing` takes longer to import than most submits take
if TYPE_CHECKING:
    from typing import Callable, Dict, Iterable, Iterator, List, Tuple

    Read = Callable[[bytes], bytes]  # the object with this hash; raises BrokenSnapshot

HASH_BYTES = 32
CHUNK_BYTES = 1 << 20
FILE, CHUNKS, LINK, DIRECTORY = b"f", b"c", b"l", b"d"
_KINDS = (FILE, CHUNKS, LINK, DIRECTORY)
_LENGTH_BYTES = 4  # big-endian, after the hash, in a pack
_MOST_LINK_BYTES = 4096
_DEEPEST = 512  # directories in directories; a path of the kernel has 4096 bytes


class BrokenSnapshot(Exception):
    """An object is missing or damaged, or is not what its name promises."""


class Entry:
    """An entry of a directory."""

    __slots__ = ("hash", "kind", "mode", "name", "size")

    def __init__(self, kind: bytes, mode: int, size: int, name: bytes, digest: bytes) -> None:
        self.kind = kind
        self.mode = mode  # permissions of a file; 0 otherwise
        self.size = size  # of a file, in bytes; 0 otherwise
        self.name = name
        self.hash = digest

    def __repr__(self) -> str:
        return f"Entry({self.encoded()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and self.encoded() == other.encoded()

    def __hash__(self) -> int:
        return hash(self.encoded())

    def encoded(self) -> bytes:
        return b"%s %o %d %s\0%s" % (self.kind, self.mode, self.size, self.name, self.hash)

    def named(self, name: bytes) -> Entry:
        return Entry(self.kind, self.mode, self.size, name, self.hash)


class Found:
    """An entry and where it is, relative to the top."""

    __slots__ = ("entry", "path")

    def __init__(self, path: bytes, entry: Entry) -> None:
        self.path = path
        self.entry = entry


def hash_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES).digest()


def encode_directory(entries: Iterable[Entry]) -> bytes:
    lines = sorted(entries, key=lambda entry: entry.name)
    return b"".join([entry.encoded() for entry in lines])


def parse_directory(data: bytes) -> List[Entry]:
    """Raises BrokenSnapshot. No name leads out of the directory."""
    entries: List[Entry] = []
    start = 0
    try:
        while start < len(data):
            end = data.index(b"\0", start)
            kind, mode, size, name = data[start:end].split(b" ", 3)
            start = end + 1 + HASH_BYTES
            entry = Entry(kind, int(mode, 8), int(size), name, data[end + 1 : start])
            _check(entry, entries[-1].name if entries else b"")
            entries.append(entry)
    except ValueError:
        raise BrokenSnapshot("a directory of the snapshot is malformed") from None
    return entries


def _check(entry: Entry, before: bytes) -> None:
    is_named = entry.name not in (b"", b".", b"..") and b"/" not in entry.name and entry.name > before
    is_sized = entry.size >= 0 and not entry.mode & ~0o777 and len(entry.hash) == HASH_BYTES
    if entry.kind not in _KINDS or not is_named or not is_sized:
        raise ValueError(entry)


def walk(read: Read, tree: bytes) -> Iterator[Found]:
    """Every entry below the top, each directory before what is in it."""
    return _walk(read, tree, b"", 0)


def _walk(read: Read, directory: bytes, prefix: bytes, depth: int) -> Iterator[Found]:
    if depth > _DEEPEST:
        raise BrokenSnapshot("the directories of the snapshot are nested too deeply")
    for entry in parse_directory(read(directory)):
        path = prefix + entry.name
        yield Found(path, entry)
        if entry.kind == DIRECTORY:
            yield from _walk(read, entry.hash, path + b"/", depth + 1)


def pieces(read: Read, entry: Entry) -> Iterator[bytes]:
    """The content of a file, in parts of at most CHUNK_BYTES."""
    if entry.kind != CHUNKS:
        yield read(entry.hash)
        return
    for chunk in chunks_of(read(entry.hash)):
        yield read(chunk)


def chunks_of(data: bytes) -> List[bytes]:
    if len(data) % HASH_BYTES:
        raise BrokenSnapshot("the list of a large file's parts is malformed")
    return [data[start : start + HASH_BYTES] for start in range(0, len(data), HASH_BYTES)]


def target_of(read: Read, entry: Entry) -> bytes:
    target = read(entry.hash)
    if not 0 < len(target) <= _MOST_LINK_BYTES or b"\0" in target:
        raise BrokenSnapshot("a symbolic link of the snapshot is malformed")
    return target


def top_object(entries: Dict[bytes, Entry]) -> Tuple[bytes, Dict[bytes, bytes]]:
    """The hash of the top, and all directory objects, from the entries by path. Parents need not be listed."""
    children: Dict[bytes, List[Entry]] = {b"": []}
    for path, entry in entries.items():
        if entry.kind == DIRECTORY:
            _enter(children, path)
        else:
            parent, _, name = path.rpartition(b"/")
            _enter(children, parent)
            children[parent].append(entry if entry.name == name else entry.named(name))
    objects: Dict[bytes, bytes] = {}
    for path in sorted(children, key=lambda path: -path.count(b"/")):
        if path:
            _close(children, path, objects)
    data = encode_directory(children[b""])
    top = hash_of(data)
    objects[top] = data
    return top, objects


def _enter(children: Dict[bytes, List[Entry]], path: bytes) -> None:
    while path not in children:
        children[path] = []
        path = path.rpartition(b"/")[0]


def _close(children: Dict[bytes, List[Entry]], path: bytes, objects: Dict[bytes, bytes]) -> None:
    data = encode_directory(children[path])
    digest = hash_of(data)
    objects[digest] = data
    parent, _, name = path.rpartition(b"/")
    children[parent].append(Entry(DIRECTORY, 0, 0, name, digest))


# Packs, in which objects travel


def packed(digest: bytes, data: bytes) -> bytes:
    return digest + len(data).to_bytes(_LENGTH_BYTES, "big") + data


def unpacked(pack: bytes) -> Iterator[Tuple[bytes, bytes]]:
    """The objects of a pack, each as its name and its bytes. Raises BrokenSnapshot if one is not what it is named."""
    start = 0
    while start < len(pack):
        begin = start + HASH_BYTES + _LENGTH_BYTES
        digest = pack[start : start + HASH_BYTES]
        size = int.from_bytes(pack[start + HASH_BYTES : begin], "big")
        start = begin + size
        data = pack[begin:start]
        if start > len(pack):
            raise BrokenSnapshot("the pack ends in the middle of an object")
        if hash_of(data) != digest:
            raise BrokenSnapshot(f"the content of object {digest.hex()} does not match its name")
        yield digest, data
