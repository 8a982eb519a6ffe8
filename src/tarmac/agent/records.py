"""The run folder and its records, and the only place that writes them: what is written here is on disk before the call returns.

A record is one JSON object with a checksum, padded with blanks. A torn one reads as absent, which is right: nobody
acted on it. So it needs no temporary file and no rename, and overwriting one in place costs no journal commit.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import Any, Dict, Optional
from zlib import crc32

Record = Dict[str, Any]

START = "start.json"
EXIT = "exit.json"
STOP = "stop.json"
LOCK = "lock"

_BLOCK_BYTES = 1024
_dumps = json.JSONEncoder(separators=(",", ":")).encode


class RunFolder:
    """One attempt's folder, held open."""

    def __init__(self, parent_fd: int, name: str, fd: int) -> None:
        self.parent_fd = parent_fd
        self.name = name
        self.fd = fd

    def close(self) -> None:
        os.close(self.fd)

    def write_durably(self, name: str, record: Record) -> None:
        """Also makes the folder itself durable: a start record nobody finds after a power cut would start the job twice."""
        self._write(name, record, durable=True)

    def write(self, name: str, record: Record) -> None:
        self._write(name, record, durable=False)

    def read(self, name: str) -> Optional[Record]:
        """None when absent, torn or unreadable."""
        try:
            fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)
        except OSError:
            return None
        try:
            return _unseal(os.read(fd, 1024 * 1024))
        except OSError:
            return None
        finally:
            os.close(fd)

    def take_lock(self) -> Optional[int]:
        """The locked descriptor, None while somebody else holds it. Whoever inherits the descriptor holds the lock too."""
        fd = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=self.fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        except BaseException:
            os.close(fd)
            raise
        return fd

    def remove(self) -> None:
        for name in (STOP, EXIT, START, LOCK):
            try:
                os.unlink(name, dir_fd=self.fd)
            except FileNotFoundError:
                pass
        try:
            os.rmdir(self.name, dir_fd=self.parent_fd)
        except FileNotFoundError:
            pass

    def _write(self, name: str, record: Record, *, durable: bool) -> None:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=self.fd)
        try:
            data = _seal(record)
            if os.write(fd, data) != len(data):
                raise OSError(28, "No space left on device")
            if durable:
                os.fsync(fd)
                os.fsync(self.fd)
                os.fsync(self.parent_fd)
        finally:
            os.close(fd)


def make(parent_fd: int, name: str) -> Optional[RunFolder]:
    """None when it exists already: mkdir is the guard against a second start."""
    try:
        os.mkdir(name, 0o700, dir_fd=parent_fd)
    except FileExistsError:
        return None
    return open_folder(parent_fd, name)


def open_folder(parent_fd: int, name: str) -> RunFolder:
    return RunFolder(parent_fd, name, os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent_fd))


def _seal(record: Record) -> bytes:
    body = _dumps(record).encode("ascii")
    sealed = b'%s,"crc":%d}\n' % (body[:-1], crc32(body))
    return sealed.ljust(-(-len(sealed) // _BLOCK_BYTES) * _BLOCK_BYTES)


def _unseal(data: bytes) -> Optional[Record]:
    body, found, checksum = data.rstrip().rpartition(b',"crc":')
    body += b"}"
    if not found or checksum != b"%d}" % crc32(body):
        return None
    record = json.loads(body.decode("ascii"))
    return record if isinstance(record, dict) else None
