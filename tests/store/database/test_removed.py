"""The files of the database are removed or replaced while it is in use. Nothing that was committed is lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tarmac.refusal import Refused
from tarmac.store.database.files import FilesRemoved
from tarmac.store.store import Store
from tests.core.support.builders import a_job
from tests.store.kept import commit, faults, new, opened

SUFFIXES = ("", "-wal", "-shm")


def take_away(path: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink()


def killed(path: Path, tmp_path: Path) -> Path:
    """The files as they are if the process dies now."""
    left = tmp_path / "left"
    left.mkdir()
    for suffix in SUFFIXES:
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", left / f"{path.name}{suffix}")
    return left / path.name


@pytest.mark.parametrize("suffixes", [("",), ("-wal",), ("-shm",), ("-wal", "-shm"), SUFFIXES], ids=str)
def test_a_commit_without_its_files_is_not_acknowledged_until_they_are_back(
    store: Store, path: Path, tmp_path: Path, suffixes: tuple[str, ...]
) -> None:
    commit(store, new(a_job(1)))
    take_away(path, suffixes)
    assert not store.has_its_files()
    with pytest.raises(FilesRemoved):
        commit(store, new(a_job(2)))
    store.restore()
    assert store.has_its_files()
    assert sorted(store.load().jobs) == [1, 2]
    with opened(killed(path, tmp_path)) as again:
        assert sorted(again.load().jobs) == [1, 2]
    commit(store, new(a_job(3)))
    assert sorted(store.load().jobs) == [1, 2, 3]
    assert faults(path) == []


def test_it_can_happen_again(store: Store, path: Path) -> None:
    for number in (1, 2, 3):
        take_away(path, SUFFIXES)
        with pytest.raises(FilesRemoved):
            commit(store, new(a_job(number)))
        store.restore()
    assert sorted(store.load().jobs) == [1, 2, 3]


def test_a_renamed_file_is_removed_as_well(store: Store, path: Path) -> None:
    commit(store, new(a_job(1)))
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(FilesRemoved):
        commit(store, new(a_job(2)))
    store.restore()
    assert sorted(store.load().jobs) == [1, 2]


def test_another_database_in_the_place_is_left_alone(store: Store, path: Path, tmp_path: Path) -> None:
    commit(store, new(a_job(1)))
    with opened(tmp_path / "other.db") as other:
        commit(other, new(a_job(7)))
    (tmp_path / "other.db").rename(path)
    before = path.read_bytes()
    with pytest.raises(FilesRemoved):
        commit(store, new(a_job(2)))
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            store.restore()
        assert refused.value.key == "store.replaced"
    assert path.read_bytes() == before
    (saved,) = path.parent.glob("*.saved-*")
    with opened(saved) as mine:
        assert sorted(mine.load().jobs) == [1, 2]
    assert sorted(store.load().jobs) == [1, 2], "what is in use can still be read"
    # Once the other file is moved away, ours takes its place.
    path.rename(tmp_path / "other.db")
    store.restore()
    commit(store, new(a_job(3)))
    with opened(killed(path, tmp_path)) as again:
        assert sorted(again.load().jobs) == [1, 2, 3]


def test_without_its_directory_nothing_is_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    with opened(folder / "tarmac.db") as store:
        commit(store, new(a_job(1)))
        shutil.rmtree(folder)
        with pytest.raises(FilesRemoved):
            commit(store, new(a_job(2)))
        with pytest.raises(Refused) as refused:
            store.restore()
        assert refused.value.key == "store.removed"
        os.mkdir(folder)  # it may come back, for example with its disk
        store.restore()
        assert sorted(store.load().jobs) == [1, 2]


def test_a_database_that_cannot_be_opened_again_at_once_is_restored_later(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(store, new(a_job(1)))
    take_away(path, SUFFIXES)
    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            raise OSError(24, "Too many open files")

        patch.setattr("tarmac.store.writer.connect_writer", fail)
        with pytest.raises(OSError, match="Too many"):
            store.restore()
    assert not store.has_its_files()
    assert sorted(store.load().jobs) == [1]
    store.restore()
    commit(store, new(a_job(2)))
    assert sorted(store.load().jobs) == [1, 2]
