"""The snapshots that are stored. Uploads and removals take place in one thread, one after the other.

A tree that was asked for or submitted lately is never removed: its job may be on the way.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from tarmac.controller.snapshots.paths import OBJECTS, object_file
from tarmac.refusal import Refused, conflict, invalid, not_found
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import (
    CHUNKS,
    DIRECTORY,
    HASH_BYTES,
    BrokenSnapshot,
    chunks_of,
    hash_of,
    packed,
    parse_directory,
)
from tarmac.store.snapshots import SnapshotStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tarmac.core.model.snapshot import Snapshot
    from tarmac.shared.snapshots.objects import Entry
    from tarmac.store.snapshots import StoredTree

    P = ParamSpec("P")
    T = TypeVar("T")

log = logging.getLogger(__name__)

ON_THE_WAY_S = 3600.0  # between the upload of a tree and its submit
PAGE_BYTES = 4096  # a tree without contents takes some space as well
MOST_READ_BYTES = 64 << 20  # in one answer


class _Objects(NamedTuple):
    """The objects of a tree."""

    tree: str
    hashes: frozenset[bytes]


class Snapshots:
    def __init__(self, state_folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._state_folder = state_folder
        self._clock = clock
        self._store = SnapshotStore(state_folder / OBJECTS)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="snapshots")
        self._trees: dict[bytes, StoredTree] = {}  # `at`: when it was last used
        self._asked_at: dict[bytes, float] = {}  # on the monotonic clock
        self._read_last = _Objects("", frozenset())
        self._began = time.monotonic()
        try:
            self._trees = {tree.hash: tree for tree in self._store.trees()}
        except Refused as error:
            log.warning("%s", error)

    def has(self, tree: str) -> bool:
        """True if it is stored. Then it stays for a while, even if no job refers to it yet."""
        is_stored = self.is_known(tree)
        if is_stored:
            self._asked_at[bytes.fromhex(tree)] = time.monotonic()
        return is_stored

    def is_known(self, tree: str) -> bool:
        return bytes.fromhex(tree) in self._trees

    def require(self, snapshot: Snapshot) -> None:
        """Refuse a job whose tree is not stored: the client sends it again."""
        if not self.has(snapshot.tree):
            raise conflict("snapshot.unknown", tree=snapshot.tree)

    async def missing(self, hashes: bytes) -> list[int]:
        return await self._do(self._store.missing, hashes)

    async def add(self, pack: bytes) -> int:
        return await self._do(self._store.add, pack)

    async def add_tree(self, tree: str, most_bytes: int) -> bool:
        """False if some of its objects are missing."""
        added = await self._do(self._store.add_tree, bytes.fromhex(tree), most_bytes, self._clock())
        if added is None:
            return False
        self._asked_at[added.hash] = time.monotonic()
        self._trees[added.hash] = added
        return True

    async def read(self, tree: str, hashes: bytes) -> bytes:
        """A pack of these objects. Refuses missing and damaged ones, and those of other trees."""
        if len(hashes) % HASH_BYTES:
            raise invalid("snapshot.cut_off")
        digests = [hashes[start : start + HASH_BYTES] for start in range(0, len(hashes), HASH_BYTES)]
        if self._read_last.tree != tree:  # a checkout reads one tree in many requests
            self._read_last = _Objects(tree, await self._do(self._store.objects_of, bytes.fromhex(tree)))
        if not self._read_last.hashes.issuperset(digests):
            raise not_found("snapshot.not_in_tree")
        path = object_file(self._state_folder)
        try:
            return await asyncio.to_thread(_read, path, hashes)
        except BrokenSnapshot as error:
            await self._drop(await asyncio.to_thread(_damaged, path))
            raise not_found("snapshot.broken", trouble=str(error)) from None

    async def drop_if_damaged(self, tree: str) -> list[str]:
        """Check every object of a tree. If one is damaged or missing, drop all trees with it, and return them.

        Then check all other objects, too: which ones are below a damaged directory is unknown.
        """
        path = object_file(self._state_folder)
        found = await asyncio.to_thread(_damaged_in, path, tree)
        if found is None:
            return []
        found += await asyncio.to_thread(_damaged, path)
        return [digest.hex() for digest in await self._drop(found)]

    async def _drop(self, digests: list[bytes]) -> list[bytes]:
        """They are unknown from now on: the next submit sends what is missing. Returns the trees that had them."""
        self._read_last = _Objects("", frozenset())
        broken = await self._do(self._store.drop, digests)
        for digest in broken:
            self._trees.pop(digest, None)
            self._asked_at.pop(digest, None)
        return broken

    # Removal

    async def remove_unused(self, in_use: Iterable[str], keep_s: float, keep_bytes: int) -> int:
        """Remove trees that no job in `in_use` needs, first the old ones, then the oldest until the rest fits.

        Returns how many were removed.
        """
        now = self._clock()
        needed = {bytes.fromhex(tree) for tree in in_use}
        for digest in needed & self._trees.keys():
            self._trees[digest] = self._trees[digest]._replace(at=now)
        await self._do(self._store.touch, [digest for digest in needed if digest in self._trees], now)
        removable = sorted((tree for tree in self._trees.values() if self._is_removable(tree, needed)), key=_last_used)
        old = [tree for tree in removable if now - tree.at > keep_s]
        removed = await self._remove(old)
        rest = removable[len(old) :]
        while keep_bytes and rest and (excess := await self._do(self._store.size) - keep_bytes) > 0:
            some, rest = self._oldest(rest, needed, excess)
            removed += await self._remove(some)
        return removed

    def _oldest(
        self, trees: list[StoredTree], needed: set[bytes], excess: int
    ) -> tuple[list[StoredTree], list[StoredTree]]:
        """As many as have this many bytes, and the others. Those that were asked for meanwhile are in neither."""
        going: list[StoredTree] = []
        for place, tree in enumerate(trees):
            if excess <= 0:
                return going, trees[place:]
            if self._is_removable(tree, needed):
                going.append(tree)
                excess -= tree.bytes + PAGE_BYTES
        return going, []

    def _is_removable(self, tree: StoredTree, needed: set[bytes]) -> bool:
        asked_at = self._asked_at.get(tree.hash, self._began)
        return tree.hash not in needed and time.monotonic() - asked_at > ON_THE_WAY_S

    async def _remove(self, trees: list[StoredTree]) -> int:
        """They are unknown from now on, so no job can be submitted with them while they are removed."""
        going = [tree.hash for tree in trees if tree.hash in self._trees]
        for digest in going:
            del self._trees[digest]
            self._asked_at.pop(digest, None)
        if going:
            await self._do(self._store.remove, going)
        return len(going)

    async def _do(self, act: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        assert not options
        return await asyncio.get_running_loop().run_in_executor(self._thread, act, *args)

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self._store.close()


def _last_used(tree: StoredTree) -> float:
    return tree.at


def _read(path: str, hashes: bytes) -> bytes:
    parts: list[bytes] = []
    size = 0
    with closing(ObjectFile(path)) as objects:
        for start in range(0, len(hashes), HASH_BYTES):
            digest = hashes[start : start + HASH_BYTES]
            parts.append(packed(digest, objects.read(digest)))
            size += len(parts[-1])
            if size > MOST_READ_BYTES:
                raise invalid("snapshot.too_much", most=MOST_READ_BYTES)
    return b"".join(parts)


def _damaged(path: str) -> list[bytes]:
    """All objects that are stored, but damaged."""
    try:
        with closing(ObjectFile(path)) as objects:
            return objects.damaged()
    except BrokenSnapshot:
        return []  # the file is gone or unreadable as a whole


def _damaged_in(path: str, tree: str) -> list[bytes] | None:
    """The damaged objects of a tree. None if it is intact."""
    broken: list[bytes] = []

    def read(digest: bytes) -> bytes:
        data = objects.look_up(digest)
        if data is None or hash_of(data) != digest:
            broken.append(digest)
            raise BrokenSnapshot(digest.hex())
        return data

    def check(directory: bytes) -> None:
        for entry in parse_directory(read(directory)):
            try:
                if entry.kind == DIRECTORY:
                    check(entry.hash)
                else:
                    check_file(entry)
            except BrokenSnapshot:
                continue  # look at the others, too

    def check_file(entry: Entry) -> None:
        data = read(entry.hash)
        for part in chunks_of(data) if entry.kind == CHUNKS else ():
            with suppress(BrokenSnapshot):
                read(part)

    try:
        with closing(ObjectFile(path)) as objects:
            check(bytes.fromhex(tree))
    except BrokenSnapshot:
        pass
    return broken or None
