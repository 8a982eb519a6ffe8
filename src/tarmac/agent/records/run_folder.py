"""The run directory of an attempt and its records. Only this module writes them; a durable write is on disk on return.

A record is one JSON object with a checksum, padded with blanks. A torn record reads as absent, which is right: nothing
has acted on it. So a record needs no temporary file and no rename. Where its blocks are on disk already (see
shim_pool), it needs no journal commit either: overwriting allocated blocks in place takes a quarter of the time.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from typing import Any, Dict, Mapping, Optional
from zlib import crc32

from tarmac.shared.system.shortage import is_shortage

Record = Dict[str, Any]

START = "start.json"
EXIT = "exit.json"
STOP = "stop.json"
LEFT = "left.json"  # the processes that the command left behind; one of an earlier attempt may still be there
PAUSED = "pause.json"  # see pause_record
LOCK = "lock"
SPEC = "spec.json"  # a start frame too large for the channel to the shim

_BLOCK_BYTES = 4096  # of a file system: a record with the origin of its job fits into one
_dumps = json.JSONEncoder(separators=(",", ":")).encode


class RunFolder:
    """One attempt's folder, by an open descriptor, which stays valid when the folder is renamed."""

    def __init__(self, parent_fd: int, name: str) -> None:
        self.parent_fd = parent_fd
        self.name = name
        self.is_on_disk = False  # with both records: writing one changes only its content
        self.fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent_fd)

    def exists(self) -> bool:
        """False if the folder was removed, or another one has its place."""
        try:
            return os.path.samestat(os.fstat(self.fd), os.stat(self.name, dir_fd=self.parent_fd))
        except OSError:
            return False

    def close(self) -> None:
        os.close(self.fd)

    def write_durably(self, name: str, record: Mapping[str, Any]) -> None:
        fd = self._write(name, _seal(record))
        try:
            if self.is_on_disk:
                os.fdatasync(fd)
                return
            # Sync the names, too: if a start record was missing after a power cut, the job would be started twice.
            os.fsync(fd)
            os.fsync(self.fd)
            os.fsync(self.parent_fd)
        finally:
            os.close(fd)

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        os.close(self._write(name, _seal(record)))

    def blank(self, name: str) -> None:
        """Erase a record but keep its block."""
        os.close(self._write(name, b" " * _BLOCK_BYTES))

    def sync(self, name: str) -> None:
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def read(self, name: str) -> Optional[Record]:
        """None when absent, torn or unreadable. Raises OSError if no descriptor is left to look."""
        try:
            fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)
        except OSError as error:
            if is_shortage(error):
                raise
            return None
        try:
            return _unseal(os.read(fd, 1024 * 1024))
        except (OSError, ValueError):
            return None
        finally:
            os.close(fd)

    def take_lock(self) -> Optional[int]:
        """Return the locked descriptor, or None while another process holds the lock. A child inherits the lock."""
        fd = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=self.fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        return fd

    def write_file(self, name: str, data: bytes) -> None:
        """Write a file that only the shim reads."""
        self.unlink(name)
        with open(
            os.open(name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=self.fd), "wb"
        ) as file:
            file.write(data)

    def read_and_remove(self, name: str) -> bytes:
        with open(os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd), "rb") as file:
            data = file.read()
        self.unlink(name)
        return data

    def is_locked(self) -> bool:
        fd = self.take_lock()
        if fd is None:
            return True
        os.close(fd)
        return False

    def unlink(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self.fd)
        except FileNotFoundError:
            pass

    def remove(self) -> None:
        for name in (SPEC, STOP, PAUSED, LEFT, EXIT, START, LOCK):
            self.unlink(name)
        self.close()
        try:
            os.rmdir(self.name, dir_fd=self.parent_fd)
        except FileNotFoundError:
            pass

    def _write(self, name: str, data: bytes) -> int:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=self.fd)
        try:
            if os.write(fd, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except BaseException:
            os.close(fd)
            raise
        return fd


def was_signalled(stop: Optional[Record]) -> bool:
    """True if the stop record says that the command still ran when it was asked to stop. Older ones do not say."""
    return stop is not None and bool(stop.get("signalled", True))


def _seal(record: Mapping[str, Any]) -> bytes:
    body = _dumps(record).encode("ascii")
    sealed = b'%s,"crc":%d}\n' % (body[:-1], crc32(body))
    return sealed.ljust(-(-len(sealed) // _BLOCK_BYTES) * _BLOCK_BYTES)


def _unseal(data: bytes) -> Optional[Record]:
    # Up to the first newline: a shorter record may be followed by the rest of a longer one.
    body, found, checksum = data.partition(b"\n")[0].rpartition(b',"crc":')
    body += b"}"
    if not found or checksum != b"%d}" % crc32(body):
        return None
    record = json.loads(body.decode("ascii"))
    return record if isinstance(record, dict) else None
