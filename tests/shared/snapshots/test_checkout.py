"""A checkout: complete, independent of the stored objects, and never touched where the job changed it."""

import os
from pathlib import Path

import pytest

from tarmac.shared.snapshots.checkout import Tree, fill, prune
from tarmac.shared.snapshots.objects import (
    CHUNK_BYTES,
    CHUNKS,
    DIRECTORY,
    FILE,
    LINK,
    BrokenSnapshot,
    Entry,
    hash_of,
    top_object,
)

STAMP_NS = 1_700_000_000_000_000_000


class Made:
    """A tree in memory."""

    def __init__(self, root: Path, files: dict[bytes, bytes], links: dict[bytes, bytes], empty: tuple[bytes, ...] = ()):
        self.objects: dict[bytes, bytes] = {}
        entries = {path: self._file(path, data) for path, data in files.items()}
        entries |= {path: Entry(LINK, 0, 0, b"", self._add(target)) for path, target in links.items()}
        entries |= {path: Entry(DIRECTORY, 0, 0, b"", b"") for path in empty}
        top, directories = top_object(entries)
        self.objects |= directories
        self.tree = Tree(self.objects.__getitem__, top, os.fsencode(root), [b"data"])

    def _file(self, path: bytes, data: bytes) -> Entry:
        mode = 0o755 if path.endswith(b".sh") else 0o640
        if len(data) < CHUNK_BYTES:
            return Entry(FILE, mode, len(data), b"", self._add(data))
        parts = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
        return Entry(CHUNKS, mode, len(data), b"", self._add(b"".join(map(self._add, parts))))

    def _add(self, data: bytes) -> bytes:
        self.objects[hash_of(data)] = data
        return hash_of(data)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    files = {b"a.py": b"code", b"run.sh": b"#!/bin/sh\n", b"deep/er/x": b"", b"big": os.urandom(2 * CHUNK_BYTES + 5)}
    files |= {b"new\nline": b"1", b"\xff\xfe": b"2", b"-rf": b"3", "ünï".encode(): b"4"}
    links = {
        b"here": b"a.py",
        b"up": b"../outside",
        b"deep/up": b"../../outside/x",
        b"abs": b"/etc/hosts",
        b"loop": b"loop",
    }
    return Made(tmp_path / "original" / "root", files, links, (b"empty", b"hollow/inside"))


def make(made: Made, tmp_path: Path, *, verify: bool = False) -> Path:
    target = tmp_path / "job" / "root"
    fill(made.tree, os.fsencode(target), os.fsencode(tmp_path / "job" / "part"), STAMP_NS, verify=verify)
    return target


def test_every_kind_of_entry_is_right(made: Made, tmp_path: Path) -> None:
    target = make(made, tmp_path)
    assert (target / "a.py").read_text() == "code"
    assert (target / "big").stat().st_size == 2 * CHUNK_BYTES + 5
    assert os.access(target / "run.sh", os.X_OK)
    assert (target / "a.py").stat().st_mode & 0o777 == 0o640
    assert list((target / "empty").iterdir()) == list((target / "hollow" / "inside").iterdir()) == []
    for name, text in ((b"new\nline", "1"), (b"\xff\xfe", "2"), (b"-rf", "3"), ("ünï".encode(), "4")):
        assert Path(os.fsdecode(os.path.join(os.fsencode(target), name))).read_text() == text
    assert os.readlink(target / "here") == "a.py"
    assert os.readlink(target / "abs") == "/etc/hosts"
    assert os.readlink(target / "loop") == "loop"
    assert os.readlink(target / "data") == str(tmp_path / "original" / "root" / "data")


def test_a_link_that_leaves_the_tree_leads_where_it_did(made: Made, tmp_path: Path) -> None:
    target = make(made, tmp_path)
    assert os.readlink(target / "up") == str(tmp_path / "original" / "outside")
    assert os.readlink(target / "deep" / "up") == str(tmp_path / "original" / "outside" / "x")


def test_a_second_fill_leaves_what_was_changed(made: Made, tmp_path: Path) -> None:
    target = make(made, tmp_path)
    (target / "a.py").write_text("mine")
    (target / "run.sh").unlink()
    make(made, tmp_path)
    assert (target / "a.py").read_text() == "mine"
    assert os.access(target / "run.sh", os.X_OK)


def test_a_file_whose_content_was_lost_is_written_again(made: Made, tmp_path: Path) -> None:
    target = make(made, tmp_path)
    (target / "a.py").write_text("")
    os.utime(target / "a.py", ns=(STAMP_NS, STAMP_NS))
    (target / "run.sh").write_text("")  # by the job: its time is another one
    make(made, tmp_path)
    assert (target / "a.py").read_text() == ""
    make(made, tmp_path, verify=True)
    assert (target / "a.py").read_text() == "code"
    assert (target / "run.sh").read_text() == ""


def test_prune_removes_what_is_unchanged_and_nothing_else(made: Made, tmp_path: Path) -> None:
    target = make(made, tmp_path)
    (target / "deep" / "out").write_text("result")
    (target / "a.py").write_text("edit")
    os.utime(target / "a.py", ns=(STAMP_NS, STAMP_NS))
    assert not prune(made.tree, os.fsencode(target))
    left = sorted(str(path.relative_to(target)) for path in target.rglob("*"))
    assert left == ["a.py", "deep", "deep/out"]
    make(made, tmp_path)
    assert (target / "a.py").read_text() == "edit"
    assert (target / "big").stat().st_size == 2 * CHUNK_BYTES + 5
    (target / "deep" / "out").unlink()
    (target / "a.py").unlink()
    assert prune(made.tree, os.fsencode(target))
    assert not target.exists()


def test_prune_leaves_the_originals_of_links_alone(made: Made, tmp_path: Path) -> None:
    original = tmp_path / "original" / "root" / "data"
    original.mkdir(parents=True)
    (original / "a.py").write_text("code")
    (original / "x").write_text("")
    target = make(made, tmp_path)
    (target / "deep" / "er" / "x").unlink()
    (target / "deep" / "er").rmdir()
    (target / "deep" / "er").symlink_to(original)
    prune(made.tree, os.fsencode(target))
    assert sorted(os.listdir(original)) == ["a.py", "x"]
    (original / "x").unlink()
    make(made, tmp_path)
    assert os.listdir(original) == ["a.py"]


def test_a_file_of_the_wrong_size_is_refused(made: Made, tmp_path: Path) -> None:
    top, directories = top_object({b"x": Entry(FILE, 0o644, 99, b"", hash_of(b"code"))})
    made.objects |= directories
    with pytest.raises(BrokenSnapshot, match="has 4 bytes instead of 99"):
        fill(made.tree._replace(hash=top), os.fsencode(tmp_path / "x"), os.fsencode(tmp_path / "part"), STAMP_NS)
    assert not (tmp_path / "x" / "x").exists()
