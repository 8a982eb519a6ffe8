"""A log with a cap: its newest output is in the file, what was before in `FILE.older`, and the rest is gone.

The job goes on writing to its file, which it opened for appending: the content is copied to `FILE.older` and the file
is emptied. Both are read as one file. Offsets count all bytes that were ever written, so they stay valid: the first
line of `FILE.older` says how many were removed. What the job writes between the copy and the cut, a moment, is lost.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from typing import Optional

from tarmac.shared.log_parts import CUT, NEW, OLDER

_HEAD = b"[tarmac: %d bytes of earlier output were removed]\n"
_HEADER = re.compile(rb"\[tarmac: (\d{1,19}) bytes of earlier output were removed\]\n")
_HEADER_BYTES = 100
_COPY_BYTES = 1 << 20
_LONGEST_LINE = 1 << 16
_LOCK_TRIES = 20
_LOCK_AGAIN_S = 0.01
_LAST_COPIES = 3  # of what the job writes meanwhile
_COMPARED_BYTES = 1 << 16


class LogFile:
    """Open it in a `with` statement. Raises OSError."""

    def __init__(self, path: str) -> None:
        self._fd = _open(path, os.O_RDONLY)
        self._older: Optional[_Older] = None
        try:
            if os.path.exists(path + OLDER) or os.path.exists(path + CUT):
                _lock(self._fd, fcntl.LOCK_SH)  # while it is cut, both have the same content
                self._older = _older_of(path, self._fd)
            self.begin = self._older.begin if self._older else 0  # what was before is removed
            self._split = self._older.end if self._older else 0
            self.size = self._split + os.fstat(self._fd).st_size
        except OSError:
            self.close()
            raise

    def __enter__(self) -> LogFile:  # noqa: PYI034  Python 3.8 has no Self
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._fd)
        if self._older is not None:
            self._older.close()

    def read(self, count: int, offset: int) -> bytes:
        """At most `count` bytes from an offset on, which is not before `begin`. Empty at the end."""
        data = b""
        if self._older is not None and offset < self._split:
            data = self._older.read(min(count, self._split - offset), offset)
            if len(data) == count or offset + len(data) < self._split:
                return data
        at = max(0, offset + len(data) - self._split)
        return data + os.pread(self._fd, max(0, count - len(data)), at)


class _Older:
    def __init__(self, path: str) -> None:
        self._fd = _open(path, os.O_RDONLY)
        head = _HEADER.match(os.pread(self._fd, _HEADER_BYTES, 0))
        self._head = head.end() if head else 0
        self.begin = int(head.group(1)) if head else 0
        self.end = self.begin + max(0, os.fstat(self._fd).st_size - self._head)

    def read(self, count: int, offset: int) -> bytes:
        return os.pread(self._fd, max(0, count), max(0, offset - self.begin) + self._head)

    def close(self) -> None:
        os.close(self._fd)


def _older_of(path: str, fd: int) -> Optional[_Older]:
    """What was before the file. The process that cut it may have been killed before or after it emptied the file."""
    older = _Older(path + OLDER) if os.path.exists(path + OLDER) else None
    if not os.path.exists(path + CUT):
        return older
    copy = _Older(path + CUT)
    if _has_beginning_of(fd, copy, older.end if older else 0):
        copy.close()
        return older
    if older is not None:
        older.close()
    return copy


def _has_beginning_of(fd: int, copy: _Older, before: int) -> bool:
    """True if the file still has what was copied: its beginning. `before`: bytes before the file."""
    copied = copy.end - before
    count = min(_COMPARED_BYTES, copied, copy.end - copy.begin)
    if os.fstat(fd).st_size < copied:
        return False
    return os.pread(fd, count, copied - count) == copy.read(count, copy.end - count)


def size_of(path: str) -> int:
    """0 if it does not exist."""
    try:
        if not os.path.exists(path + OLDER) and not os.path.exists(path + CUT):
            return os.stat(path).st_size
        with LogFile(path) as log:
            return log.size
    except OSError:
        return 0


def cap(path: str, limit: int) -> bool:
    """Cut a file that takes more than half of the limit; the other half is for what was before. Raises OSError."""
    fd = _open(path, os.O_RDWR)
    try:
        is_interrupted = os.path.exists(path + CUT)
        if (os.fstat(fd).st_size <= limit // 2 and not is_interrupted) or not _lock(fd, fcntl.LOCK_EX):
            return False
        if is_interrupted:
            _finish(path, fd)
        size = os.fstat(fd).st_size  # another helper may have cut it just now
        if size > limit // 2:
            _cut(path, fd, size, limit // 2)
        return size > limit // 2
    finally:
        os.close(fd)


def _lock(fd: int, kind: int) -> bool:
    """Lock a file until it is closed. False if the job itself holds a lock on its output: it is not waited for.

    Where a file system has no locks, going on without one is right but for a moment.
    """
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_AGAIN_S)
        except OSError:
            return True
        else:
            return True
    return False


def _cut(path: str, fd: int, size: int, keep: int) -> None:
    before, last = 0, b"\n"
    if os.path.exists(path + OLDER):
        older = _Older(path + OLDER)
        before = older.end
        last = older.read(1, before - 1)
        older.close()
    begin = _line_begin(fd, max(0, size - keep), last)
    try:
        _copy(fd, path + NEW, begin, before)
        os.replace(path + NEW, path + CUT)
    except OSError:
        _unlink(path + NEW)
        _unlink(path + OLDER)  # the disk is full, which the cap is to prevent: nothing older is kept
        os.ftruncate(fd, 0)
        return
    os.ftruncate(fd, 0)
    os.replace(path + CUT, path + OLDER)


def _finish(path: str, fd: int) -> None:
    """End a cut whose process was killed: keep the copy if the file was emptied, otherwise drop it."""
    older, copy = (_Older(path + part) if os.path.exists(path + part) else None for part in (OLDER, CUT))
    if copy is None:
        return
    if _has_beginning_of(fd, copy, older.end if older else 0):
        _unlink(path + CUT)
    else:
        os.replace(path + CUT, path + OLDER)
    for one in (older, copy):
        if one is not None:
            one.close()


def _line_begin(fd: int, at: int, last: bytes) -> int:
    """Where the next line begins; `last` is the byte before the file. Of a very long line, keep the end."""
    if at:
        last = os.pread(fd, 1, at - 1)
    if last == b"\n":
        return at
    return at + os.pread(fd, _LONGEST_LINE, at).find(b"\n") + 1


def _copy(fd: int, path: str, begin: int, before: int) -> None:
    """Copy what the file holds from `begin` on, and then what is written meanwhile."""
    owner = os.fstat(fd)
    _unlink(path)
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(out, stat.S_IMODE(owner.st_mode))
        if os.geteuid() == 0:
            os.fchown(out, owner.st_uid, owner.st_gid)
        if before + begin:
            os.write(out, _HEAD % (before + begin))
        at = begin
        for _ in range(_LAST_COPIES):
            end = os.fstat(fd).st_size
            if at >= end:
                break
            at = _copy_range(fd, out, at, end)
    finally:
        os.close(out)


def _copy_range(fd: int, out: int, at: int, end: int) -> int:
    while at < end:
        piece = memoryview(os.pread(fd, min(_COPY_BYTES, end - at), at))
        if not piece:
            break
        at += len(piece)
        while piece:
            piece = piece[os.write(out, piece) :]
    return at


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _open(path: str, flags: int) -> int:
    fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO must not hang
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(0, "is not a regular file", path)
    return fd
