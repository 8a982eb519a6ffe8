"""Remembers the hashes of files, so that an unchanged file is not read again.

A file counts as unchanged if its type, permissions, size, inode and both times are. Times have a limited resolution: a
file that was changed just before it was read may be changed again without a new time. Such a file is not remembered.
"""

from __future__ import annotations

import marshal
import os
from time import monotonic_ns, time_ns

from tarmac.shared.snapshots.objects import HASH_BYTES, hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Plain tuples, as they come from the disk; always unpacked. `typing` takes long to import.
    Seen = tuple[int, int, int, int, int]  # of a file: mode, size, mtime_ns, ctime_ns, inode
    Known = tuple[Seen, bytes, bytes, bytes]  # the same, its kind, its hash, and the hashes of its parts if it is large

_VERSION = 1
_FINE_NS, _COARSE_NS = 100_000_000, 2_000_000_000


def seen_of(info: os.stat_result) -> Seen:
    return info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino


class StatCache:
    """The cache of one directory. Without a cache directory, nothing is remembered."""

    def __init__(self, root: bytes) -> None:
        self._path = cache_path(root)
        self.began_ns, self.began_monotonic_ns = time_ns(), monotonic_ns()
        self.files: dict[bytes, Known] = {}
        self.listing = b""  # hash of the paths, when `tree` was made
        self.tree = b""
        self._load()

    def _load(self) -> None:
        try:
            with open(self._path, "rb") as file:
                data = file.read()
            if hash_of(data[HASH_BYTES:]) != data[:HASH_BYTES]:
                return
            version, files, listing, tree = marshal.loads(data[HASH_BYTES:])  # noqa: S302  written by this user, and complete
        except (OSError, ValueError, EOFError, TypeError):
            return
        if version == _VERSION:
            self.files, self.listing, self.tree = files, listing, tree

    def is_settled(self, seen: Seen, *_more: bytes, began_ns: int | None = None) -> bool:
        """False if the file was changed just before: it might change again unnoticed.

        `began_ns` is when the look at the files began, on their clock if that is known to differ.
        """
        _, _, mtime_ns, ctime_ns, _ = seen
        newest = max(mtime_ns, ctime_ns)
        is_fine = mtime_ns % 1_000_000 or ctime_ns % 1_000_000
        return newest + (_FINE_NS if is_fine else _COARSE_NS) < (self.began_ns if began_ns is None else began_ns)

    def store(self, files: dict[bytes, Known], listing: bytes, tree: bytes) -> None:
        """A cache that cannot be written costs time only."""
        data = marshal.dumps((_VERSION, files, listing, tree))
        replace_file(self._path, hash_of(data) + data)


def replace_file(path: str, data: bytes) -> None:
    """Do nothing if it cannot be written."""
    part = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(fd, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError:
        pass


def cache_path(root: bytes) -> str:
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tarmac", "snapshots", hash_of(root)[:16].hex())
