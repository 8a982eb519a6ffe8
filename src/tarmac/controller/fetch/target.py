"""The directory that fetched files are copied to. Nothing is written outside of it. Touches the disk: for a thread.

No symbolic link below the directory is followed. A file gets its name only once it is complete, with the permissions
and the time of its original. So a file that was fetched before is recognized by its size and time, and one that a
person changed since has a later time: it is left alone.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PART = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
Verdict: TypeAlias = Literal["copy", "same", "newer", "in_the_way"]


class Original(NamedTuple):
    """A file or link on the node."""

    path: str  # relative to both directories
    size: int
    mode: int
    mtime_ns: int
    link: str | None = None  # where it leads


class Target:
    def __init__(self, directory: str, job: int) -> None:
        self._directory = directory
        self._part = f".tarmac-fetch-{job}.part"

    def make_directory(self, path: str, mode: int) -> bool:
        """False if something else has its name. An existing directory keeps its mode."""
        with self._parent(path) as (parent, name):
            if name == ".":
                return True
            try:
                os.mkdir(name, mode | 0o700, dir_fd=parent)
            except FileExistsError:
                return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        return True

    def judge(self, original: Original) -> Verdict:
        """Whether the file is to be copied."""
        with self._parent(original.path) as (parent, name):
            try:
                info = os.stat(name, dir_fd=parent, follow_symlinks=False)
            except FileNotFoundError:
                return "copy"
            if original.link is not None:
                return self._judge_link(parent, name, info, original.link)
        if not stat.S_ISREG(info.st_mode):
            return "in_the_way"
        if info.st_mtime_ns == original.mtime_ns and info.st_size == original.size:
            return "same"
        return "newer" if info.st_mtime_ns > original.mtime_ns else "copy"

    @staticmethod
    def _judge_link(parent: int, name: str, info: os.stat_result, link: str) -> Verdict:
        is_same = stat.S_ISLNK(info.st_mode) and os.readlink(name, dir_fd=parent) == link
        return "same" if is_same else "in_the_way"

    def part_size(self, path: str) -> int:
        """How much of the file is there."""
        with self._parent(path) as (parent, _):
            try:
                info = os.stat(self._part, dir_fd=parent, follow_symlinks=False)
            except FileNotFoundError:
                return 0
        return info.st_size if stat.S_ISREG(info.st_mode) else 0

    def write_part(self, path: str, offset: int, data: bytes) -> None:
        with self._parent(path) as (parent, _):
            fd = os.open(self._part, _PART | (0 if offset else os.O_TRUNC), 0o600, dir_fd=parent)
            try:
                while data:
                    written = os.pwrite(fd, data, offset)
                    data, offset = data[written:], offset + written
            finally:
                os.close(fd)

    def finish(self, original: Original) -> None:
        """Give the complete file its name, in one step."""
        with self._parent(original.path) as (parent, name):
            fd = os.open(self._part, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            try:
                os.fchmod(fd, original.mode & 0o777)
                os.utime(fd, ns=(original.mtime_ns, original.mtime_ns))
                os.fsync(fd)
            finally:
                os.close(fd)
            os.rename(self._part, name, src_dir_fd=parent, dst_dir_fd=parent)

    def make_link(self, original: Original) -> None:
        assert original.link is not None
        with self._parent(original.path) as (parent, name):
            os.symlink(original.link, name, dir_fd=parent)

    def drop_part(self, path: str) -> None:
        try:
            with self._parent(path) as (parent, _):
                os.unlink(self._part, dir_fd=parent)
        except OSError:
            pass  # it was never begun, or its directory is gone

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The open directory that has the last part of the path, and this part. Makes missing directories."""
        parts = path.split("/")
        if path != "." and any(part in {"", ".", ".."} for part in parts):
            raise OSError(f"{path} leads out of the directory")
        fd = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts[:-1]:
                try:
                    inner = os.open(part, _DIRECTORY, dir_fd=fd)
                except FileNotFoundError:
                    os.mkdir(part, 0o777, dir_fd=fd)
                    inner = os.open(part, _DIRECTORY, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd, parts[-1]
        finally:
            os.close(fd)


def stays_inside(path: str, link: str) -> bool:
    """True if a symbolic link at this path leads to a place in the directory, whatever is there.

    `..` may come only at its beginning: after a name that is itself a link, it could lead anywhere.
    """
    parts = link.split("/")
    if link.startswith("/") or not all(parts):
        return False
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    return ".." not in parts[ups:] and ups <= path.count("/")
