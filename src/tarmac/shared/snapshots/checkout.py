"""Writes the files of a snapshot into a directory, completes what is missing there, and removes what is unchanged.

Every file is a copy, so what a job writes cannot reach the stored object or another job's files. A file gets its name
only once it is complete, and `stamp_ns` as the time of its last change: a file with another time was changed there and
is never touched.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Iterable, NamedTuple

from tarmac.shared.snapshots.objects import (
    DIRECTORY,
    LINK,
    BrokenSnapshot,
    Entry,
    Found,
    pieces,
    target_of,
    walk,
)

if TYPE_CHECKING:
    from tarmac.shared.snapshots.objects import Read


class Tree(NamedTuple):
    """A snapshot, and where its files came from."""

    read: Read
    hash: bytes
    root: bytes  # the original directory
    links: Iterable[bytes] = ()  # paths below it that stay where they are


def fill(tree: Tree, target: bytes, part: bytes, stamp_ns: int, *, verify: bool = False) -> int:
    """Write what is missing; return the number of files written. `part` is a name for a file that is being written.

    `verify`: also replace files whose content was lost, as in a power failure.
    """
    os.makedirs(target, exist_ok=True)
    written = 0
    real = _RealDirectories()
    for found in walk(tree.read, tree.hash):
        path = os.path.join(target, found.path)
        if not real.have(found.path):
            continue
        if found.entry.kind == DIRECTORY:
            _make_directory(path)
            real.note(found.path, path)
        elif not os.path.lexists(path) or (verify and _is_lost(path, found.entry, stamp_ns, tree.read)):
            _write(tree, found, path, part, stamp_ns)
            written += 1
    for link in tree.links:
        _link(tree, link, os.path.join(target, link))
    return written


def prune(tree: Tree, target: bytes) -> bool:
    """Remove the files that are as the snapshot has them. True if nothing else is left, and the directory is gone."""
    directories = [target]
    real = _RealDirectories()
    for found in walk(tree.read, tree.hash):
        path = os.path.join(target, found.path)
        if not real.have(found.path):
            continue
        if found.entry.kind == DIRECTORY:
            directories.append(path)
            real.note(found.path, path)
        elif is_unchanged(tree, found, path):
            os.unlink(path)
    for link in tree.links:
        path = os.path.join(target, link)
        if os.path.islink(path):
            os.unlink(path)
    for directory in reversed(directories):
        try:
            os.rmdir(directory)
        except OSError:
            pass  # something is left in it, or it is gone
    return not os.path.lexists(target)


class _RealDirectories:
    """The directories of the tree that are ones in the checkout, too. A link that a job put there leads elsewhere."""

    def __init__(self) -> None:
        self._real = {b""}

    def have(self, path: bytes) -> bool:
        return os.path.dirname(path) in self._real

    def note(self, path: bytes, actual: bytes) -> None:
        try:
            if stat.S_ISDIR(os.lstat(actual).st_mode):
                self._real.add(path)
        except OSError:
            pass  # it is gone


def is_unchanged(tree: Tree, found: Found, path: bytes) -> bool:
    entry = found.entry
    try:
        info = os.lstat(path)
        if entry.kind == LINK:
            return stat.S_ISLNK(info.st_mode) and os.readlink(path) == _target(tree, found)
        if not stat.S_ISREG(info.st_mode) or info.st_size != entry.size:
            return False
        return _has_content(path, entry, tree.read)
    except OSError:
        return False


def _has_content(path: bytes, entry: Entry, read: Read) -> bool:
    with open(path, "rb") as file:
        return all(file.read(len(piece)) == piece for piece in pieces(read, entry)) and not file.read(1)


def _is_lost(path: bytes, entry: Entry, stamp_ns: int, read: Read) -> bool:
    info = os.lstat(path)
    is_ours = stat.S_ISREG(info.st_mode) and info.st_mtime_ns == stamp_ns
    return is_ours and entry.kind != LINK and not _has_content(path, entry, read)


def _make_directory(path: bytes) -> None:
    try:
        os.mkdir(path)
    except FileExistsError:
        pass  # also if a job put something else there


def _write(tree: Tree, found: Found, path: bytes, part: bytes, stamp_ns: int) -> None:
    try:
        os.unlink(part)
    except FileNotFoundError:
        pass
    if found.entry.kind == LINK:
        os.symlink(_target(tree, found), part)
    else:
        _write_file(tree.read, found.entry, part, stamp_ns)
    os.rename(part, path)


def _write_file(read: Read, entry: Entry, path: bytes, stamp_ns: int) -> None:
    size = 0
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        for piece in pieces(read, entry):
            size += len(piece)
            _write_all(fd, piece)
        if size != entry.size:
            raise BrokenSnapshot(f"{os.fsdecode(entry.name)} has {size} bytes instead of {entry.size}")
        os.fchmod(fd, entry.mode)
        os.utime(fd, ns=(stamp_ns, stamp_ns))
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _target(tree: Tree, found: Found) -> bytes:
    """Where the link leads. A relative link that leaves the tree still leads to where it did from the original."""
    target = target_of(tree.read, found.entry)
    if target.startswith(b"/"):
        return target
    inside = os.path.normpath(os.path.join(os.path.dirname(found.path), target))
    if inside != b".." and not inside.startswith(b"../"):
        return target
    return os.path.normpath(os.path.join(tree.root, inside))


def _link(tree: Tree, link: bytes, path: bytes) -> None:
    if not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # a directory with nothing but links
        os.symlink(os.path.join(tree.root, link), path)


def checkout_name(root: bytes) -> bytes:
    """The last name of the original directory, which some programs use."""
    return os.path.basename(root.rstrip(b"/")) or b"root"
