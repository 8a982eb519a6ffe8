"""The file of snapshots: whole objects or none, whatever happens, and nothing that a tree needs is removed."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.refusal import Refused
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import (
    CHUNKS,
    DIRECTORY,
    FILE,
    HASH_BYTES,
    BrokenSnapshot,
    Entry,
    encode_directory,
    hash_of,
    packed,
    top_object,
)
from tarmac.store.snapshots import SnapshotStore

MOST = 1 << 30


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SnapshotStore]:
    store = SnapshotStore(tmp_path / "snapshots.db")
    yield store
    store.close()


def a_tree(**files: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Its name, and all its objects."""
    entries = {name.encode(): Entry(FILE, 0o644, len(data), b"", hash_of(data)) for name, data in files.items()}
    top, objects = top_object(entries)
    return top, objects | {hash_of(data): data for data in files.values()}


def pack_of(objects: dict[bytes, bytes]) -> bytes:
    return b"".join(packed(digest, data) for digest, data in objects.items())


def stored(store: SnapshotStore) -> int:
    connection = sqlite3.connect(store._path)
    try:
        count: int = connection.execute("SELECT count(*) FROM objects").fetchone()[0]
        return count
    finally:
        connection.close()


def test_a_tree_is_entered_once_all_its_objects_are_there(store: SnapshotStore) -> None:
    top, objects = a_tree(a=b"1", b=b"22")
    digests = list(objects)
    assert store.missing(b"".join(digests)) == [0, 1, 2]
    store.add(pack_of({digest: objects[digest] for digest in digests[:2]}))
    assert store.missing(b"".join(digests)) == [2]
    assert store.add_tree(top, MOST, 1.0) is None
    store.add(pack_of(objects))
    added = store.add_tree(top, MOST, 2.0)
    assert added is not None
    assert (added.bytes, store.trees()) == (3, [added])
    assert ObjectFile(str(store._path)).read(hash_of(b"22")) == b"22"


def test_objects_are_stored_once(store: SnapshotStore) -> None:
    _, objects = a_tree(a=b"same", b=b"same")
    store.add(pack_of(objects))
    store.add(pack_of(objects))
    assert stored(store) == 2


def test_removal_keeps_what_other_trees_need(store: SnapshotStore) -> None:
    part = hash_of(b"part")
    first, objects = a_tree(a=b"both", b=b"only the first")
    second, more = a_tree(a=b"both", c=b"only the second")
    large, lists = top_object({b"x/large": Entry(CHUNKS, 0o644, 4, b"", hash_of(part))})
    store.add(pack_of({**objects, **more, **lists, part: b"part", hash_of(part): part, hash_of(b"lost"): b"lost"}))
    for tree in (first, second, large):
        assert store.add_tree(tree, MOST, 1.0) is not None
    assert store.remove([first]) == 3
    assert {tree.hash for tree in store.trees()} == {second, large}
    reader = ObjectFile(str(store._path))
    for needed in (b"both", b"only the second", b"part"):
        assert reader.read(hash_of(needed)) == needed
    assert store.remove([second, large]) == 7
    assert stored(store) == 0


def test_the_file_shrinks(store: SnapshotStore) -> None:
    top, objects = a_tree(a=os.urandom(3_000_000))
    store.add(pack_of(objects))
    store.add_tree(top, MOST, 1.0)
    large = store.size()
    assert large > 3_000_000
    store.remove([top])
    assert store.size() < 100_000
    assert store._path.stat().st_size < 100_000


def test_what_is_not_a_tree_is_refused(store: SnapshotStore) -> None:
    outside = encode_directory([Entry(FILE, 0o644, 1, b"a/../../b", hash_of(b"x"))])
    store.add(packed(hash_of(outside), outside))
    with pytest.raises(Refused, match=r"snapshot\.malformed"):
        store.add_tree(hash_of(outside), MOST, 1.0)
    top, objects = a_tree(a=bytes(100))
    store.add(pack_of(objects))
    with pytest.raises(Refused, match=r"snapshot\.too_large"):
        store.add_tree(top, 99, 1.0)
    for hashes in (b"x", bytes(HASH_BYTES + 1)):
        with pytest.raises(Refused, match=r"snapshot\.cut_off"):
            store.missing(hashes)
    with pytest.raises(Refused, match=r"snapshot\.malformed"):
        store.add(packed(hash_of(b"one"), b"two"))


def test_deeply_nested_directories_are_refused(store: SnapshotStore) -> None:
    digest = hash_of(b"")
    objects = {digest: b""}
    for _ in range(3000):
        data = encode_directory([Entry(DIRECTORY, 0, 0, b"d", digest)])
        digest = hash_of(data)
        objects[digest] = data
    store.add(pack_of(objects))
    with pytest.raises(Refused, match=r"snapshot\.malformed"):
        store.add_tree(digest, MOST, 1.0)


def test_a_damaged_object_is_noticed_when_it_is_used(store: SnapshotStore) -> None:
    top, objects = a_tree(a=b"good")
    store.add(pack_of(objects))
    assert store.add_tree(top, MOST, 1.0) is not None
    connection = sqlite3.connect(store._path)
    with connection:
        connection.execute("UPDATE objects SET data = x'00'")
    connection.close()
    reader = ObjectFile(str(store._path))
    for digest in objects:
        with pytest.raises(BrokenSnapshot, match="is damaged"):
            reader.read(digest)
    assert store.add_tree(top, MOST, 1.0) is None  # a damaged directory counts as missing, and is sent again


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "snapshots.db"
    path.write_bytes(b"not a database" * 1000)
    store = SnapshotStore(path)
    with pytest.raises(Refused, match=r"snapshot\.store"):
        store.trees()
    assert path.read_bytes() == b"not a database" * 1000
    with pytest.raises(BrokenSnapshot, match="cannot be read"):
        ObjectFile(str(path)).read(bytes(32))
    with pytest.raises(BrokenSnapshot, match="does not exist"):
        ObjectFile(str(tmp_path / "other.db"))


POINTS = ["before-objects", "before-commit", "after-commit", "before-tree", "after-tree", "before-remove",
          "after-remove", "before-sweep"]  # fmt: skip
STEPS = """
import sys
from pathlib import Path
from tests.store.test_snapshots import MOST, SnapshotStore, a_tree, pack_of
store = SnapshotStore(Path(sys.argv[1]))
old, objects = a_tree(a=b"both", b=b"old")
store.add(pack_of(objects))
store.add_tree(old, MOST, 1.0)
new, objects = a_tree(a=b"both", c=b"new")
store.add(pack_of(objects))
store.add_tree(new, MOST, 2.0)
store.remove([old])
"""


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_a_crash_leaves_every_tree_complete_and_the_rest_can_be_repeated(tmp_path: Path, point: str, nth: int) -> None:
    path = tmp_path / "snapshots.db"
    crash = {"TARMAC_CRASH_AT": f"snapshots:{point}@{nth}"}
    killed = subprocess.run([sys.executable, "-c", STEPS, str(path)], env={**os.environ, **crash}, check=False)
    is_reached = nth == 1 or not point.endswith(("remove", "sweep"))
    assert killed.returncode == (-signal.SIGKILL if is_reached else 0)
    store = SnapshotStore(path)
    _assert_complete(store)
    repeated = subprocess.run([sys.executable, "-c", STEPS, str(path)], env=os.environ, check=False)
    assert repeated.returncode == 0
    _assert_complete(store)
    assert [tree.hash for tree in store.trees()] == [a_tree(a=b"both", c=b"new")[0]]
    assert stored(store) == 3
    store.close()


DROP = """
import sys
from pathlib import Path
from tests.store.test_snapshots import SnapshotStore, hash_of
SnapshotStore(Path(sys.argv[1])).drop([hash_of(b"both")])
"""


@pytest.mark.parametrize("point", ["after-drop-objects", "before-drop-commit"])
def test_a_crash_while_damaged_objects_are_dropped_leaves_every_tree_complete(store: SnapshotStore, point: str) -> None:
    top, objects = a_tree(a=b"both", b=b"own")
    store.add(pack_of(objects))
    store.add_tree(top, MOST, 1.0)
    crash = {"TARMAC_CRASH_AT": f"snapshots:{point}"}
    words = [sys.executable, "-c", DROP, str(store._path)]
    assert subprocess.run(words, env={**os.environ, **crash}, check=False).returncode == -signal.SIGKILL
    assert [tree.hash for tree in store.trees()] == [top]
    _assert_complete(store)
    assert subprocess.run(words, env=os.environ, check=False).returncode == 0
    assert store.trees() == []
    assert stored(store) == len(objects) - 1


def _assert_complete(store: SnapshotStore) -> None:
    for tree in store.trees():
        assert store.add_tree(tree.hash, MOST, tree.at) is not None
        reader = ObjectFile(str(store._path))
        assert reader.read(hash_of(b"both")) == b"both"
        reader.close()


def test_directories_that_contain_the_same_one_twice_are_counted_twice(store: SnapshotStore) -> None:
    """Few bytes are stored, but a checkout would create a billion directories."""
    data = encode_directory([])
    objects = {hash_of(data): data}
    for _ in range(30):
        entries = [Entry(DIRECTORY, 0, 0, name, hash_of(data)) for name in (b"a", b"b")]
        data = encode_directory(entries)
        objects[hash_of(data)] = data
    store.add(pack_of(objects))
    with pytest.raises(Refused) as refused:
        store.add_tree(hash_of(data), MOST, 1.0)
    assert refused.value.key == "snapshot.too_many"
    assert store.trees() == []


def damage(store: Path, digest: bytes, data: bytes = b"\0") -> None:
    connection = sqlite3.connect(store)
    with connection:
        assert connection.execute("UPDATE objects SET data = ? WHERE hash = ?", (data, digest)).rowcount == 1
    connection.close()


@pytest.mark.parametrize("content", [b"\0", b""])
def test_an_upload_replaces_a_damaged_object(store: SnapshotStore, content: bytes) -> None:
    _, objects = a_tree(a=b"good")
    store.add(pack_of(objects))
    damage(store._path, hash_of(b"good"), content)
    store.add(pack_of(objects))
    assert ObjectFile(str(store._path)).read(hash_of(b"good")) == b"good"
    assert stored(store) == len(objects)


def test_a_damaged_object_is_dropped_with_the_trees_that_have_it(store: SnapshotStore) -> None:
    (first, some), (second, more), (third, others) = (
        a_tree(a=b"shared", b=b"1"),
        a_tree(a=b"shared", b=b"2"),
        a_tree(a=b"own"),
    )
    for top, objects in ((first, some), (second, more), (third, others)):
        store.add(pack_of(objects))
        assert store.add_tree(top, MOST, 1.0) is not None
    assert store.drop([]) == []
    assert set(store.drop([hash_of(b"shared")])) == {first, second}
    assert [tree.hash for tree in store.trees()] == [third]
    assert store.missing(b"".join([hash_of(b"shared"), *(others | more)])) == [
        0,
        *(1 + place for place, digest in enumerate(others | more) if digest == hash_of(b"shared")),
    ]
