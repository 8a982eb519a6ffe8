"""How far the checkout of a job is: a record beside its files, changed under a lock on the job's directory."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from contextlib import contextmanager
from typing import Iterator, Optional, TypedDict, cast

_NAME = b"checkout.json"
_TRIES = 100


class Marker(TypedDict, total=False):
    tree: str  # hash of what is checked out, in hex
    stamp_ns: int  # the time of its files; a file with another one was changed by the job
    boot_id: str  # of the boot in which it was completed: what was written before may be lost with the power
    is_full: bool  # every file was written
    is_pruned: bool  # the unchanged files were removed
    attempt: int  # the last one that used it


@contextmanager
def locked(directory: bytes, *, make: bool = False) -> Iterator[None]:
    """One at a time fills or prunes a checkout. With `make`, the directory exists under the lock."""
    fd = _made_and_locked(directory) if make else _lock(directory)
    try:
        yield
    finally:
        os.close(fd)


def _made_and_locked(directory: bytes) -> int:
    """Begin again if the one that had the lock removed the directory."""
    for _ in range(_TRIES):
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            pass
        try:
            return _lock(directory)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), directory)


def _lock(directory: bytes) -> int:
    """Raises FileNotFoundError if the directory is removed or replaced before the lock is free."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        if not os.path.samestat(os.fstat(fd), os.stat(directory)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), directory)
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_marker(directory: bytes) -> Optional[Marker]:
    """None if the marker is missing, or was lost in a power failure."""
    try:
        with open(os.path.join(directory, _NAME), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return cast("Marker", found) if isinstance(found, dict) else None


def write_marker(directory: bytes, marker: Marker) -> None:
    path = os.path.join(directory, _NAME)
    with open(path + b".new", "w", encoding="utf-8") as file:
        json.dump(marker, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + b".new", path)


def remove_marker(directory: bytes) -> None:
    for name in (_NAME, _NAME + b".new"):
        try:
            os.unlink(os.path.join(directory, name))
        except FileNotFoundError:
            pass
