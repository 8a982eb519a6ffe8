"""The file that removed jobs are written to before they are removed: records, one per line, only ever appended.

A line that a crash cut off belongs to a job that was not removed, so it is cut away when the file is next opened. After
a crash, a job may be there twice; `tarmac import` takes it once.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from tarmac.refusal import invalid, unavailable
from tarmac.shared import crashpoint
from tarmac.store.database.files import sync
from tarmac.store.history.records import encoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.store.history.records import Record

HEADER = b'{"tarmac_export":'
BLOCK = 1 << 16


def append(path: str, header: Record, records: Iterable[Record]) -> None:
    """Write records to the end, and wait until they are on disk. Raises Refused if that cannot be done."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _append(descriptor, path, header, records)
        finally:
            os.close(descriptor)
        sync(Path(path).parent)
    except OSError as error:
        raise unavailable("history.cannot_dump", path=path, error=error.strerror or str(error)) from error


def refuse_unusable(path: str) -> None:
    """Raises Refused if nothing could be written to this file. Creates nothing."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        directory = os.path.dirname(path)
        if not os.path.isdir(directory):
            raise invalid("setting.no_directory", name="history_dump", path=path, directory=directory) from None
        if not os.access(directory, os.W_OK | os.X_OK):
            raise invalid("setting.not_writable", name="history_dump", path=path) from None
        return
    except OSError as error:
        raise invalid("setting.not_writable", name="history_dump", path=path) from error
    try:
        info = os.fstat(descriptor)
        is_ours = stat.S_ISREG(info.st_mode) and HEADER.startswith(os.pread(descriptor, len(HEADER), 0))
    except OSError:  # such as /proc/self/mem
        is_ours = False
    finally:
        os.close(descriptor)
    if not is_ours:
        raise invalid("setting.not_a_dump", path=path)


def _append(descriptor: int, path: str, header: Record, records: Iterable[Record]) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise unavailable("history.not_a_dump", path=path)
    size = _whole_lines(descriptor, info.st_size)
    if size and os.pread(descriptor, len(HEADER), 0) != HEADER:
        raise unavailable("history.not_a_dump", path=path)
    if size != info.st_size:
        os.ftruncate(descriptor, size)
    try:
        if not size:
            _write(descriptor, encoded(header))
        for record in records:
            _write(descriptor, encoded(record))
            crashpoint.reach("keep:in-dump")
        os.fsync(descriptor)
    except OSError:  # the disk is full: leave whole lines
        os.ftruncate(descriptor, size)
        raise
    crashpoint.reach("keep:after-dump")


def _whole_lines(descriptor: int, size: int) -> int:
    """The length up to the last newline. A file without a newline that does not begin as ours is not cut."""
    end = size
    while end > 0:
        start = max(0, end - BLOCK)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    beginning = os.pread(descriptor, len(HEADER), 0)
    return 0 if HEADER.startswith(beginning) or beginning.startswith(HEADER) else size


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
