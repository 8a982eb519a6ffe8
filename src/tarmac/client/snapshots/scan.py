"""Reads the files of a listing that changed since the last time, and names every file by the hash of its content."""

from __future__ import annotations

import os
import stat

from tarmac.client.snapshots.stat_cache import seen_of
from tarmac.shared.snapshots.objects import CHUNK_BYTES, CHUNKS, DIRECTORY, FILE, HASH_BYTES, LINK, Entry, hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.client.snapshots.files.listing import Listing
    from tarmac.client.snapshots.stat_cache import Known, Seen, StatCache
    from tarmac.errors import UserError

_KEPT_BYTES = 64 << 20  # contents that are kept until they are sent; others are read again
_TRIES = 3
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Place:
    """Where the content of an object is."""

    __slots__ = ("offset", "path", "size")

    def __init__(self, path: bytes, offset: int, size: int) -> None:
        self.path = path
        self.offset = offset
        self.size = size


class Scan:
    __slots__ = ("_directories", "_kept", "contents", "files", "is_as_before", "notes", "root_fd")

    def __init__(self, root_fd: int, listing: Listing) -> None:
        self.root_fd = root_fd
        self.files: dict[bytes, Known] = {}
        self.contents: dict[bytes, bytes] = {}  # objects that were read just now
        self.notes: list[str] = [*listing.notes]
        self.is_as_before = True  # every file is as the cache has it
        self._directories = listing.directories
        self._kept = 0

    def entries(self) -> dict[bytes, Entry]:
        """Files, links and empty directories by path."""
        found: dict[bytes, Entry] = {}
        links = set()
        for path, ((mode, size, *_), kind, digest, _) in self.files.items():
            name = os.path.basename(path)
            if kind == LINK:
                links.add(path)
                found[path] = Entry(kind, 0, 0, name, digest)
            else:
                found[path] = Entry(kind, mode & 0o777, size, name, digest)
        for path in self._directories:
            found.setdefault(path, Entry(DIRECTORY, 0, 0, os.path.basename(path), b""))
        if not links:
            return found
        # Behind a link is what is left of a tracked directory that was replaced by it.
        return {path: entry for path, entry in found.items() if not _is_behind(path, links)}

    def places(self) -> dict[bytes, Place]:
        """Where each object of a file or a link is found, for those that must be sent."""
        found: dict[bytes, Place] = {}
        for path, known in self.files.items():
            (_, size, *_), _, digest, chunks = known
            if not chunks:
                found[digest] = Place(path, 0, size)
                continue
            for place, start in enumerate(range(0, len(chunks), HASH_BYTES)):
                found[chunks[start : start + HASH_BYTES]] = Place(path, place * CHUNK_BYTES, CHUNK_BYTES)
        return found

    def lists(self) -> dict[bytes, bytes]:
        """The objects of large files, which list their parts."""
        return {digest: chunks for _, _, digest, chunks in self.files.values() if chunks}

    def keep(self, digest: bytes, data: bytes) -> None:
        if self._kept + len(data) <= _KEPT_BYTES and digest not in self.contents:
            self.contents[digest] = data
            self._kept += len(data)


def look_at(root_fd: int, paths: Iterable[bytes]) -> dict[bytes, os.stat_result]:
    """What exists of them."""
    found: dict[bytes, os.stat_result] = {}
    for path in paths:
        try:
            found[path] = os.lstat(path, dir_fd=root_fd)
        except FileNotFoundError:
            pass  # deleted, though tracked, or it vanished
        except NotADirectoryError:
            pass
    return found


def total_size(stats: dict[bytes, os.stat_result]) -> dict[bytes, int]:
    return {path: info.st_size for path, info in stats.items() if info.st_mode & 0o170000 == stat.S_IFREG}


def scan(listing: Listing, stats: dict[bytes, os.stat_result], cache: StatCache, root_fd: int) -> Scan:
    done = Scan(root_fd, listing)
    remembered, files = cache.files, done.files
    for path, info in stats.items():
        known = remembered.get(path)
        if known is not None:
            seen, *_ = known
            if seen_of(info) == seen:
                files[path] = known
                continue
        done.is_as_before = False
        fresh = _read(done, path, seen_of(info))
        if fresh is not None:
            files[path] = fresh
    return done


def _is_behind(path: bytes, links: set[bytes]) -> bool:
    parent = path.rpartition(b"/")[0]
    while parent:
        if parent in links:
            return True
        parent = parent.rpartition(b"/")[0]
    return False


def _read(done: Scan, path: bytes, seen: Seen) -> Known | None:
    """None if it vanished, or is neither a file nor a link."""
    try:
        mode, *_ = seen
        if stat.S_ISLNK(mode):
            target = os.readlink(path, dir_fd=done.root_fd)
            digest = hash_of(target)
            done.keep(digest, target)
            return seen, LINK, digest, b""
        if stat.S_ISREG(mode):
            return _read_file(done, path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from None
    from tarmac.client.snapshots.files.directory import skipped

    done.notes.append(skipped(path, mode))
    return None


def _unreadable(path: bytes, error: OSError) -> UserError:
    from tarmac.client.snapshots.files.directory import unreadable

    return unreadable(path, error)


def _read_file(done: Scan, path: bytes) -> Known | None:
    """Read again if it changes meanwhile. A file that changes all the time, such as a log, is taken as last read."""
    fd = os.open(path, _FLAGS, dir_fd=done.root_fd)
    try:
        for _ in range(_TRIES):
            before = os.fstat(fd)
            if not stat.S_ISREG(before.st_mode):
                return None
            known = _hashed(done, fd, before)
            seen, *_ = known
            if seen == seen_of(os.fstat(fd)):
                return known
    finally:
        os.close(fd)
    done.notes.append(f"{os.fsdecode(path)} changed while it was read")
    return known


def _hashed(done: Scan, fd: int, info: os.stat_result) -> Known:
    """With the size that was read, which counts if the file changes meanwhile."""
    os.lseek(fd, 0, os.SEEK_SET)
    first = _read_part(fd)
    if len(first) < CHUNK_BYTES:
        digest = hash_of(first)
        done.keep(digest, first)
        return _seen(info, len(first)), FILE, digest, b""
    hashes, size, part = [], 0, first
    while part:
        hashes.append(hash_of(part))
        done.keep(hashes[-1], part)
        size += len(part)
        part = _read_part(fd)
    listed = b"".join(hashes)
    return _seen(info, size), CHUNKS, hash_of(listed), listed


def _seen(info: os.stat_result, size: int) -> Seen:
    return info.st_mode, size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino


def _read_part(fd: int) -> bytes:
    data = os.read(fd, CHUNK_BYTES)
    while 0 < len(data) < CHUNK_BYTES:
        more = os.read(fd, CHUNK_BYTES - len(data))
        if not more:
            break
        data += more
    return data


def read_again(root_fd: int, place: Place) -> bytes:
    """The content of an object that was not kept."""
    try:
        info = os.lstat(place.path, dir_fd=root_fd)
        if stat.S_ISLNK(info.st_mode):
            return os.readlink(place.path, dir_fd=root_fd)
        fd = os.open(place.path, _FLAGS, dir_fd=root_fd)
    except OSError as error:
        raise _unreadable(place.path, error) from None
    try:
        os.lseek(fd, place.offset, os.SEEK_SET)
        return _read_part(fd) if place.size >= CHUNK_BYTES else os.read(fd, place.size)
    finally:
        os.close(fd)
