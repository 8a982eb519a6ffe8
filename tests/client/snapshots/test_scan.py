"""Reading files: unchanged ones are not read again, and changes are never missed."""

import os
import threading
from pathlib import Path

import pytest

from tarmac.client.snapshots import scan as module
from tarmac.client.snapshots.stat_cache import StatCache
from tarmac.shared.snapshots.objects import CHUNK_BYTES, CHUNKS, FILE, hash_of
from tests.client.snapshots.trees import look, repository, settle


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", "a.py", "lib/b.py", "c.py")


def test_unchanged_files_are_not_read_again(root: Path) -> None:
    settle(root)
    first = look(root)
    assert first.read == 3
    second = look(root)
    assert (second.read, second.name, second.entries) == (0, first.name, first.entries)


@pytest.mark.parametrize("change", ["content", "same size", "mode", "replaced", "touched", "added", "removed"])
def test_every_change_is_noticed(root: Path, change: str) -> None:
    settle(root)
    before = look(root)
    file = root / "a.py"
    old = file.stat()
    if change == "content":
        file.write_text("longer than before")
    elif change == "same size":  # and the same time of the last change, as some tools restore it
        file.write_text("A.py\n")
        os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    elif change == "mode":
        file.chmod(0o755)
    elif change == "replaced":
        (root / "new").write_text("A.py\n")
        os.utime(root / "new", ns=(old.st_atime_ns, old.st_mtime_ns))
        (root / "new").replace(file)
    elif change == "touched":
        file.touch()
    elif change == "added":
        (root / "d.py").write_text("")
    else:
        file.unlink()
    after = look(root)
    assert (after.name == before.name) == (change == "touched")
    assert after.read <= 1


def test_a_file_that_was_changed_just_now_is_read_again(root: Path) -> None:
    (root / "a.py").write_text("just now")
    look(root)
    assert look(root).read >= 1


def test_a_file_is_settled_only_some_time_after_its_last_change(tmp_path: Path) -> None:
    cache = StatCache(os.fsencode(tmp_path))
    now = cache.began_ns
    old = now - 200_000_001
    assert cache.is_settled((0o100644, 1, old, old, 1))
    assert not cache.is_settled((0o100644, 1, old, now - 50_000_001, 1))
    second = (now // 10**9 - 1) * 10**9  # whole seconds: a change within the same second would not be seen
    assert not cache.is_settled((0o100644, 1, second, second, 1))
    assert cache.is_settled((0o100644, 1, second - 2 * 10**9, second - 2 * 10**9, 1))


@pytest.mark.parametrize("damage", [b"", b"nonsense", bytes(100)])
def test_a_damaged_cache_costs_time_only(root: Path, tmp_path: Path, damage: bytes) -> None:
    settle(root)
    name = look(root).name
    (file,) = (tmp_path / "cache" / "tarmac" / "snapshots").iterdir()
    file.write_bytes(damage)
    assert (look(root).read, look(root).name) == (3, name)


def test_a_cache_that_cannot_be_written_costs_time_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    settle(root)
    assert (look(root).read, look(root).read) == (3, 3)


def test_a_large_file_is_cut_into_parts(root: Path) -> None:
    data = os.urandom(2 * CHUNK_BYTES + 1)
    (root / "large").write_bytes(data)
    (root / "edge").write_bytes(data[:CHUNK_BYTES])
    (root / "small").write_bytes(data[: CHUNK_BYTES - 1])
    entries = look(root).entries
    parts = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
    assert entries[b"large"].kind == CHUNKS
    assert entries[b"large"].hash == hash_of(b"".join(map(hash_of, parts)))
    assert (entries[b"edge"].kind, entries[b"small"].kind) == (CHUNKS, FILE)
    assert entries[b"large"].size == len(data)


def test_a_file_that_vanishes_while_it_is_read_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._read

    def read(done: module.Scan, path: bytes, seen: tuple[int, int, int, int, int]) -> object:
        if path == b"a.py":
            (root / "a.py").unlink()
        return real(done, path, seen)

    monkeypatch.setattr(module, "_read", read)
    assert sorted(look(root).entries) == [b"c.py", b"lib/b.py"]


def test_a_file_that_grows_all_the_time_is_taken_as_last_read(root: Path) -> None:
    is_over = threading.Event()

    def write() -> None:
        with open(root / "run.log", "a", buffering=1) as file:
            while not is_over.is_set():
                file.write("line\n")

    (root / "run.log").write_text("begin\n")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = look(root)
    finally:
        is_over.set()
        writer.join()
    assert seen.entries[b"run.log"].size >= len("begin\n")
    assert (root / "run.log").read_bytes()[: seen.entries[b"run.log"].size].startswith(b"begin\n")


def test_a_file_that_became_a_pipe_does_not_hang(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._read

    def read(done: module.Scan, path: bytes, seen: tuple[int, int, int, int, int]) -> object:
        if path == b"a.py":
            (root / "a.py").unlink()
            os.mkfifo(root / "a.py")
        return real(done, path, seen)

    monkeypatch.setattr(module, "_read", read)
    assert b"a.py" not in look(root).entries
