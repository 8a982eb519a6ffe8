"""Tarmac's own logs, controller.log and agent.log: descriptors 1 and 2 of their process, bounded in size.

A large file becomes `.1`, and older ones move on; the oldest is dropped. Other processes may have the same file open:
forked shims and probes, or an agent that is being replaced. A lock decides who renames, and before each line every
writer looks whether its file still has the name. Renaming needs no space, so a full disk does not matter.
"""

from __future__ import annotations

import fcntl
import os
import time

MOST_BYTES = 5 * 1024 * 1024
OLD_FILES = 3
TRIES, TRY_AGAIN_S = 10, 0.01  # while another process renames; it may be suspended, so no longer than that
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_OUT, _ERR = 1, 2


class OwnLog:
    def __init__(self, path: str) -> None:
        self._path = path

    def open(self) -> None:
        """Make the file this process's standard output and standard error."""
        fd = os.open(self._path, _FLAGS, 0o600)
        try:
            os.fchmod(fd, 0o600)  # an older file may be readable by others
            os.dup2(fd, _OUT)
            os.dup2(fd, _ERR)
        finally:
            os.close(fd)

    def write(self, text: str) -> None:
        """Add a line, in one piece. A full disk must not stop the process."""
        try:
            self.keep_small()
            os.write(_ERR, text.encode("utf-8", "backslashreplace") + b"\n")
        except OSError:
            pass

    def keep_small(self) -> None:
        """Rename the file if it is large, and follow if another process did."""
        try:
            mine = os.fstat(_ERR)
            if not _is_same(mine, self._path):
                self.open()
            elif mine.st_size > MOST_BYTES:
                self._rotate()
                self.open()
        except OSError:
            pass  # a later line tries again

    def _rotate(self) -> None:
        fd = os.open(self._path, _FLAGS, 0o600)
        try:
            for _ in range(TRIES):
                if not _is_same(os.fstat(fd), self._path):
                    return  # another process renamed it
                if _has_locked(fd):
                    if os.fstat(fd).st_size > MOST_BYTES and _is_same(os.fstat(fd), self._path):
                        self._rename()
                    return
                time.sleep(TRY_AGAIN_S)
        finally:
            os.close(fd)

    def _rename(self) -> None:
        names = [self._path, *(f"{self._path}.{number}" for number in range(1, OLD_FILES + 1))]
        for older, newer in zip(reversed(names), reversed(names[:-1])):
            try:
                os.rename(newer, older)
            except FileNotFoundError:
                pass


def _has_locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_same(found: os.stat_result, path: str) -> bool:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (there.st_dev, there.st_ino)
