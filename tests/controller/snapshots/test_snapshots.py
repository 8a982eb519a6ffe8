"""Which snapshots are kept: those that jobs need or may need soon, then the newest."""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tarmac.controller.snapshots import snapshots as module
from tarmac.controller.snapshots.snapshots import Snapshots
from tarmac.core.model.snapshot import Snapshot
from tarmac.refusal import Refused
from tarmac.shared.snapshots.objects import CHUNK_BYTES, CHUNKS, Entry, hash_of, top_object
from tests.store.test_snapshots import MOST, a_tree, damage, pack_of

DAY_S = 86400.0


class Kept:
    """Snapshots with a clock that the test sets."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self.folder = folder
        self.snapshots = Snapshots(folder, lambda: self.now)

    def add(self, **files: bytes) -> str:
        top, objects = a_tree(**files)

        async def upload() -> bool:
            await self.snapshots.add(pack_of(objects))
            return await self.snapshots.add_tree(top.hex(), MOST)

        assert asyncio.run(upload())
        return top.hex()

    def clean(self, *in_use: str, keep_s: float = DAY_S, keep_bytes: int = 0) -> int:
        return asyncio.run(self.snapshots.remove_unused(in_use, keep_s, keep_bytes))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setattr(module, "ON_THE_WAY_S", -1.0)
    return Kept(tmp_path)


def test_an_old_snapshot_goes_unless_a_job_needs_it(kept: Kept) -> None:
    needed, other = kept.add(a=b"1"), kept.add(a=b"2")
    assert kept.clean(needed) == 0
    kept.now += 2 * DAY_S
    assert kept.clean(needed) == 1
    assert kept.snapshots.is_known(needed)
    assert not kept.snapshots.is_known(other)
    kept.now += DAY_S / 2
    assert kept.clean() == 0  # its job ended less than a day ago
    kept.now += DAY_S
    assert kept.clean() == 1


def test_the_oldest_go_while_there_are_too_many_bytes(kept: Kept) -> None:
    trees = []
    for number in range(4):
        trees.append(kept.add(a=bytes([number]) * 500_000))
        kept.now += 1
    assert kept.clean(trees[0], keep_s=DAY_S, keep_bytes=1_200_000) == 2
    assert [kept.snapshots.is_known(tree) for tree in trees] == [True, False, False, True]


def test_a_snapshot_whose_job_is_on_the_way_stays(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    tree = kept.add(a=b"1")
    kept.now += 100 * DAY_S
    assert kept.clean(keep_bytes=1) == 0
    assert kept.snapshots.has(tree)


def test_after_a_restart_none_goes_before_its_client_had_time(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    tree = kept.add(a=b"1")
    again = Kept(tmp_path)
    again.now += 100 * DAY_S
    assert again.clean(keep_bytes=1) == 0
    assert again.snapshots.has(tree)


def test_the_time_of_the_last_use_survives_a_restart(kept: Kept) -> None:
    tree = kept.add(a=b"1")
    kept.now += 10 * DAY_S
    kept.clean(tree)
    again = Kept(kept.folder)
    again.now = kept.now + DAY_S / 2
    assert again.clean() == 0
    again.now += DAY_S
    assert again.clean() == 1


def test_a_job_cannot_be_submitted_with_a_snapshot_that_is_being_removed(kept: Kept) -> None:
    tree = kept.add(a=b"1")
    kept.now += 2 * DAY_S

    async def race() -> None:
        removal = asyncio.create_task(kept.snapshots.remove_unused((), DAY_S, 0))
        while kept.snapshots.is_known(tree):  # noqa: ASYNC110  until the removal has begun
            await asyncio.sleep(0)
        with pytest.raises(Refused, match=r"snapshot\.unknown"):
            kept.snapshots.require(Snapshot(tree=tree, root="/"))
        assert await kept.snapshots.add_tree(tree, MOST) is False  # its objects are gone: the client sends them again
        await removal

    asyncio.run(race())
    assert kept.add(a=b"1") == tree


def test_a_snapshot_that_is_asked_for_during_the_removal_stays(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = kept.add(a=b"1"), kept.add(a=b"2")
    kept.now += 1
    size = kept.snapshots._store.size

    def asked() -> int:
        monkeypatch.setattr(module, "ON_THE_WAY_S", 3600.0)
        kept.snapshots.has(second)
        kept.snapshots.has(first)
        return size()

    monkeypatch.setattr(kept.snapshots._store, "size", asked)
    assert kept.clean(keep_bytes=1) == 0
    assert kept.snapshots.is_known(first)
    assert kept.snapshots.is_known(second)


def test_an_object_that_is_not_there_cannot_be_read(kept: Kept) -> None:
    tree = kept.add(a=b"1")
    with pytest.raises(Refused, match=r"snapshot\.not_in_tree"):
        asyncio.run(kept.snapshots.read(tree, bytes(32)))
    with pytest.raises(Refused, match=r"snapshot\.cut_off"):
        asyncio.run(kept.snapshots.read(tree, b"x"))


def test_a_damaged_file_does_not_keep_the_controller_from_starting(tmp_path: Path) -> None:
    (tmp_path / "snapshots.db").write_bytes(b"nonsense" * 1000)
    started = time.monotonic()
    assert not Snapshots(tmp_path).is_known("0" * 64)
    assert time.monotonic() - started < 10


def test_many_old_snapshots_go_in_a_few_steps(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = []
    for number in range(30):
        trees.append(kept.add(a=bytes([number]) * 20_000))
        kept.now += 1
    steps: list[int] = []
    remove = kept.snapshots._store.remove

    def counted(trees: list[bytes]) -> int:
        steps.append(len(trees))
        return remove(trees)

    monkeypatch.setattr(kept.snapshots._store, "remove", counted)
    assert kept.clean(keep_bytes=200_000) == sum(steps) > 15
    assert len(steps) < 8
    assert kept.snapshots.is_known(trees[-1])


def test_a_damaged_tree_is_unknown_once_it_was_checked(kept: Kept) -> None:
    broken, whole = kept.add(a=b"shared", b=b"1"), kept.add(a=b"2")
    also = kept.add(c=b"shared")
    assert asyncio.run(kept.snapshots.drop_if_damaged(broken)) == []
    damage(kept.folder / "snapshots.db", hash_of(b"shared"))
    assert set(asyncio.run(kept.snapshots.drop_if_damaged(broken))) == {broken, also}
    for snapshots in (kept.snapshots, Snapshots(kept.folder)):  # also after a restart
        assert [snapshots.is_known(tree) for tree in (broken, whole, also)] == [False, True, False]
    kept.add(a=b"shared", b=b"1")
    assert kept.snapshots.is_known(broken)
    assert asyncio.run(kept.snapshots.drop_if_damaged(broken)) == []


def test_a_damaged_object_that_is_read_is_sent_again_by_the_next_submit(kept: Kept) -> None:
    tree = kept.add(a=b"1")
    damage(kept.folder / "snapshots.db", hash_of(b"1"))
    with pytest.raises(Refused, match=r"snapshot\.broken"):
        asyncio.run(kept.snapshots.read(tree, hash_of(b"1")))
    assert not kept.snapshots.has(tree)
    assert asyncio.run(kept.snapshots.missing(hash_of(b"1"))) == [0]


@pytest.mark.parametrize("is_read", [False, True])
def test_one_submit_sends_everything_that_is_damaged(kept: Kept, *, is_read: bool) -> None:
    """Also what is below a damaged directory."""
    tree = kept.add(a=b"1", b=b"2")
    objects = [bytes.fromhex(tree), hash_of(b"1"), hash_of(b"2")]
    for digest in objects[0 if not is_read else 1 :]:
        damage(kept.folder / "snapshots.db", digest)
    if is_read:
        with pytest.raises(Refused, match=r"snapshot\.broken"):
            asyncio.run(kept.snapshots.read(tree, objects[1]))
    else:
        assert asyncio.run(kept.snapshots.drop_if_damaged(tree)) == [tree]
    assert kept.add(a=b"1", b=b"2") == tree
    assert asyncio.run(kept.snapshots.drop_if_damaged(tree)) == []
    assert asyncio.run(kept.snapshots.missing(b"".join(objects))) == []


def test_every_part_of_a_large_file_is_checked(kept: Kept) -> None:
    """Even if an object of another tree is unreadable, so that not all objects can be read."""
    other = kept.add(a=b"other")
    data = [b"1" * CHUNK_BYTES, b"2" * CHUNK_BYTES, b"3"]
    listed = b"".join(map(hash_of, data))
    entry = Entry(CHUNKS, 0o644, 2 * CHUNK_BYTES + 1, b"large", hash_of(listed))
    top, objects = top_object({b"large": entry})

    async def upload() -> bool:
        await kept.snapshots.add(pack_of(objects | {hash_of(part): part for part in [listed, *data]}))
        return await kept.snapshots.add_tree(top.hex(), MOST)

    assert asyncio.run(upload())
    for part in data[1:]:
        damage(kept.folder / "snapshots.db", hash_of(part))
    with closing(sqlite3.connect(kept.folder / "snapshots.db")) as connection, connection:
        words = "UPDATE objects SET data = CAST(x'ff' AS TEXT) WHERE hash = ?"
        assert connection.execute(words, (hash_of(b"other"),)).rowcount == 1
    assert asyncio.run(kept.snapshots.drop_if_damaged(top.hex())) == [top.hex()]
    assert asyncio.run(kept.snapshots.missing(listed)) == [1, 2]
    assert kept.snapshots.is_known(other)
