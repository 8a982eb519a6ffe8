"""The objects of snapshots on another machine: only whole and intact ones are stored."""

from __future__ import annotations

import os
from base64 import b64encode
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tarmac.agent.files.objects import add_object_part, add_objects, keep_objects, missing_objects
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import CHUNKS, DIRECTORY, FILE, Entry, encode_directory, hash_of, packed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "snapshots.db")


def text(data: bytes) -> str:
    return b64encode(data).decode()


def add(path: str, *contents: bytes) -> Any:
    pack = b"".join(packed(hash_of(data), data) for data in contents)
    return add_objects({"type": "add_objects", "ref": 1, "objects": path, "pack": text(pack)})


def missing(path: str, *contents: bytes, verify: bool = False) -> list[int]:
    hashes = text(b"".join(map(hash_of, contents)))
    answer = missing_objects({"type": "missing_objects", "ref": 1, "objects": path, "hashes": hashes, "verify": verify})
    return answer["places"]


def part(path: str, data: bytes, offset: int, size: int, digest: bytes) -> Any:
    return add_object_part(
        {
            "type": "add_object_part", "ref": 1, "objects": path, "hash": digest.hex(), "offset": offset,
            "size": size, "data": text(data),
        }
    )  # fmt: skip


def test_only_what_is_missing_is_named(path: str) -> None:
    assert missing(path, b"a", b"b") == [0, 1]
    assert add(path, b"a") == {
        "type": "objects_added", "ref": 1, "error": None, "is_full": False, "is_broken": False,
    }  # fmt: skip
    assert missing(path, b"a", b"b") == [1]
    assert add(path, b"a")["error"] is None


def test_an_object_that_is_not_what_it_is_named_is_refused_with_its_whole_pack(path: str) -> None:
    pack = packed(hash_of(b"good"), b"good") + packed(hash_of(b"other"), b"broken")
    answer = add_objects({"type": "add_objects", "ref": 1, "objects": path, "pack": text(pack)})
    assert answer["is_broken"]
    assert missing(path, b"good", b"other") == [0, 1]


def test_a_large_object_arrives_in_parts_and_nothing_is_left_beside_it(path: str) -> None:
    data = os.urandom(3000)
    for start in range(0, 3000, 1000):
        assert missing(path, data) == [0]
        assert part(path, data[start : start + 1000], start, 3000, hash_of(data))["error"] is None
    assert missing(path, data, verify=True) == []
    assert not [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".part")]


def test_parts_that_got_mixed_up_are_refused(path: str) -> None:
    data = os.urandom(2000)
    part(path, data[:1000], 0, 2000, hash_of(data))
    assert part(path, data[:1000], 1000, 2000, hash_of(data))["is_broken"]
    assert missing(path, data) == [0]


def test_a_damaged_object_is_missing_if_it_is_looked_at_and_can_be_replaced(path: str) -> None:
    import sqlite3

    add(path, b"a" * 100)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE objects SET data = ?", (b"b" * 100,))
    assert missing(path, b"a" * 100) == []
    assert missing(path, b"a" * 100, verify=True) == [0]
    add(path, b"a" * 100)
    assert missing(path, b"a" * 100, verify=True) == []


def test_a_damaged_file_is_replaced_by_a_new_one(path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"not a database" * 1000)
    assert missing(path, b"a") == [0]
    assert add(path, b"a")["error"] is None
    assert missing(path, b"a") == []


def test_trouble_with_the_disk_is_reported(tmp_path: Path) -> None:
    path = str(tmp_path / "gone" / "snapshots.db")
    assert add(path, b"a")["error"] == "unable to open database file"


def test_objects_of_other_trees_are_removed(path: str) -> None:
    chunk, content, old = b"chunk", b"content", b"old"
    listed = hash_of(chunk)
    inner = encode_directory([Entry(CHUNKS, 0o644, 5, b"large", hash_of(listed))])
    top = encode_directory([
        Entry(DIRECTORY, 0, 0, b"inner", hash_of(inner)), Entry(FILE, 0o644, 7, b"small", hash_of(content)),
    ])  # fmt: skip
    add(path, chunk, content, listed, inner, top, old)
    answer = keep_objects({"type": "keep_objects", "ref": 1, "objects": path, "trees": [hash_of(top).hex()]})
    assert answer["removed"] == 1
    assert missing(path, chunk, content, listed, inner, top, old) == [5]
    keep_objects({"type": "keep_objects", "ref": 1, "objects": path, "trees": []})
    with closing(ObjectFile(path)) as objects:
        assert not objects.has(hash_of(top))


def test_nothing_is_made_where_nothing_was_sent(path: str) -> None:
    assert keep_objects({"type": "keep_objects", "ref": 1, "objects": path, "trees": []})["removed"] == 0
    assert not os.path.exists(path)
