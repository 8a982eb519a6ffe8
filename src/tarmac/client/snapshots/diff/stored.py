"""Reads the snapshot of a job from the controller: its directories first, then the contents that are needed."""

from __future__ import annotations

import os
from time import time

from tarmac.errors import Conflict, TarmacError, UserError
from tarmac.shared.snapshots.checkout import Tree, fill
from tarmac.shared.snapshots.objects import DIRECTORY, BrokenSnapshot, Entry, parse_directory, unpacked, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.answers import Snapshot
    from tarmac.client.jobs import Id, Jobs

_AT_ONCE = 2000  # objects
_AT_ONCE_BYTES = 8 << 20
_PART = b".tarmac-part"


class StoredTree:
    """The tree of a job's snapshot. `read` gets objects in bounded batches, in the order of the tree."""

    def __init__(self, client: Jobs, job: Id) -> None:
        self._client = client
        self.number = client.number_of(job)
        self.snapshot: Snapshot = _snapshot_of(client, self.number)
        self._directories: dict[bytes, bytes] = {}
        self._load_directories(bytes.fromhex(self.snapshot["tree"]))
        found = walk(self._directories.__getitem__, bytes.fromhex(self.snapshot["tree"]))
        self.entries: dict[bytes, Entry] = {one.path: one.entry for one in found}
        self._batch: dict[bytes, bytes] = {}
        self.want(list(self.entries.values()))

    @property
    def tree(self) -> Tree:
        links = [os.fsencode(link) for link in self.snapshot["links"]]
        return Tree(self.read, bytes.fromhex(self.snapshot["tree"]), os.fsencode(self.snapshot["root"]), links)

    def read(self, digest: bytes) -> bytes:
        if digest in self._directories:
            return self._directories[digest]
        if digest not in self._batch:
            self._batch = self._fetch(self._next(digest))
        return self._batch[digest]

    def want(self, entries: list[Entry]) -> None:
        """Only the contents of these are read from now on."""
        self._order = list({entry.hash: entry.size for entry in entries if entry.kind != DIRECTORY}.items())
        self._places = {digest: place for place, (digest, _) in enumerate(self._order)}

    def _next(self, digest: bytes) -> list[bytes]:
        """This object and those that follow. Parts of a large file are read one by one."""
        place = self._places.get(digest)
        if place is None:
            return [digest]
        chosen, size = [], 0
        for one, count in self._order[place : place + _AT_ONCE]:
            chosen.append(one)
            size += count
            if size > _AT_ONCE_BYTES:
                break
        return chosen

    def _load_directories(self, top: bytes) -> None:
        level = [top]
        while level:
            found: dict[bytes, bytes] = {}
            for start in range(0, len(level), _AT_ONCE):
                found |= self._fetch(level[start : start + _AT_ONCE])
            self._directories |= found
            below = [
                entry.hash for data in found.values() for entry in parse_directory(data) if entry.kind == DIRECTORY
            ]
            level = [digest for digest in dict.fromkeys(below) if digest not in self._directories]

    def _fetch(self, digests: list[bytes]) -> dict[bytes, bytes]:
        answer = self._client.call(
            "POST", f"/jobs/{self.number}/objects", data=b"".join(digests), has_token=True, is_raw=True
        )
        try:
            found = dict(unpacked(answer))
        except BrokenSnapshot as error:
            raise TarmacError(f"the snapshot of job {self.number} cannot be read: {error}") from None
        return found


def _snapshot_of(client: Jobs, number: int) -> Snapshot:
    snapshot = client.job(number).snapshot
    if snapshot is None:
        raise Conflict(
            f"job {number} has no snapshot", "it runs what is in its directory when it starts; use --snapshot next time"
        )
    return snapshot


def check_out(client: Jobs, job: Id, directory: str | os.PathLike[str]) -> int:
    """Write the files of a job's snapshot into a new or empty directory. Returns the number of files."""
    target = os.path.abspath(os.fsencode(directory))
    if os.path.lexists(target) and not os.path.isdir(target):
        raise UserError(f"{os.fsdecode(target)} is not a directory", "name a new directory")
    if os.path.isdir(target) and os.listdir(target):
        raise UserError(f"{os.fsdecode(target)} is not empty", "name a new directory, or empty this one")
    stored = StoredTree(client, job)
    try:
        return fill(stored.tree, target, os.path.join(target, _PART), int(time()) * 10**9)
    except OSError as error:
        place = os.fsdecode(error.filename or target).removesuffix(f"/{_PART.decode()}")
        hint = "name a directory that you may write to, on a disk with free space"
        raise UserError(f"cannot write {place}: {error.strerror}", hint) from None
    except BrokenSnapshot as error:
        raise TarmacError(f"the snapshot of job {stored.number} cannot be read: {error}") from None
