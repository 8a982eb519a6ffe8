"""The index follows the database, and is built again if it is lost, damaged or of another database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tarmac.core.model.status import Queued
from tarmac.store.database.database import connect_writer
from tarmac.store.environments.secret_files import SecretFiles
from tarmac.store.history import index as history_index
from tarmac.store.history.index import HistoryIndex
from tarmac.store.store import Store
from tests.store.history.past import add, caught_up, change, ended, found
from tests.store.kept import commit, opened, removed

Patch = pytest.MonkeyPatch


@pytest.fixture
def index(path: Path, store: Store) -> Iterator[HistoryIndex]:
    index = HistoryIndex(path)
    yield index
    index.close()


def test_jobs_are_listed_by_their_ends_the_newest_first(store: Store, index: HistoryIndex) -> None:
    add(store, ended(1, at=300), ended(2, at=100), ended(3, at=200))
    assert found(index) == [1, 3, 2]
    add(store, ended(4, at=400))
    assert found(index) == [4, 1, 3, 2]


def test_live_jobs_are_not_listed_and_a_job_that_runs_again_leaves(store: Store, index: HistoryIndex) -> None:
    add(store, ended(1), ended(2, status=Queued()))
    assert found(index) == [1]
    change(store, ended(1, status=Queued()), "JobsRetried")
    assert found(index) == []
    change(store, ended(2, at=500), "JobExited")
    change(store, ended(1, at=600), "JobExited")
    assert found(index) == [1, 2]


def test_submits_are_not_followed_one_by_one(store: Store, index: HistoryIndex, monkeypatch: Patch) -> None:
    monkeypatch.setattr(history_index, "EVENTS_AT_ONCE", 3)
    assert found(index) == []
    add(store, *(ended(number, status=Queued()) for number in range(1, 41)))
    assert index.catch_up(10) == 0
    for number in (5, 6, 7, 8):
        change(store, ended(number), "JobExited")
    add(store, *(ended(number, status=Queued()) for number in range(41, 50)))
    assert index.catch_up(10) == 1, "the end of one job; submits do not count"
    assert index.catch_up(10) == 0
    assert found(index) == [8, 7, 6, 5]


def test_a_change_after_the_end_is_found_in_the_old_place(store: Store, index: HistoryIndex) -> None:
    add(store, ended(1), ended(2))
    assert found(index) == [2, 1]
    change(store, ended(1, name="renamed", tags=("late",)), "JobEdited")
    assert found(index) == [2, 1]
    assert found(index, "renamed") == [1]
    assert found(index, tag="late") == [1]


def test_removed_jobs_are_gone_also_after_a_crash_in_between(path: Path, store: Store, index: HistoryIndex) -> None:
    add(store, *(ended(number, name=f"job{number}x") for number in range(1, 6)))
    assert len(found(index)) == 5
    commit(store, removed(2))
    index.forget([2])
    assert (found(index), found(index, "job2x")) == ([5, 4, 3, 1], [])
    commit(store, removed(3))
    index.close()
    after = HistoryIndex(path)
    assert found(after) == [5, 4, 1]
    assert found(after, "job3x") == []
    after.close()


def test_the_file_shrinks_when_most_jobs_are_removed(store: Store, index: HistoryIndex, monkeypatch: Patch) -> None:
    monkeypatch.setattr("tarmac.store.history.index.MANY", 10)
    add(store, *(ended(number, name=f"some long name {number}") for number in range(1, 101)))
    assert len(found(index)) == 100
    commit(store, removed(*range(1, 91)))
    index.forget(range(1, 91))
    assert not index.path.exists()
    assert found(index) == [*range(100, 90, -1)]


def test_jobs_that_the_index_missed_are_found_after_the_next_start(path: Path, store: Store) -> None:
    add(store, ended(1), ended(2))
    first = HistoryIndex(path)
    assert found(first) == [2, 1]
    with first.opened() as connection:
        connection.execute("DELETE FROM history WHERE job = 1")
    first.close()
    second = HistoryIndex(path)
    caught_up(second)
    assert found(second) == [2, 1]
    second.close()


@pytest.mark.parametrize("damage", ["missing", "another program's", "cut", "of another version", "a symlink"])
def test_an_index_that_cannot_be_used_is_built_again(path: Path, store: Store, damage: str) -> None:
    add(store, ended(1), ended(2))
    first = HistoryIndex(path)
    assert found(first) == [2, 1]
    first.close()
    file, elsewhere = path.with_name("history.db"), path.with_name("elsewhere")
    if damage == "missing":
        file.unlink()
    elif damage == "another program's":
        file.write_bytes(b"not a database" * 100)
    elif damage == "cut":
        os.truncate(file, 5000)
    elif damage == "of another version":
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()
    else:
        elsewhere.write_text("mine")
        file.unlink()
        file.symlink_to(elsewhere)
    second = HistoryIndex(path)
    try:
        found(second)
    except sqlite3.DatabaseError:
        assert damage == "cut"  # it is only seen when it is read
    assert found(second) == [2, 1]
    assert damage != "a symlink" or elsewhere.read_text() == "mine"
    second.close()


def test_only_its_owner_may_read_it(store: Store, index: HistoryIndex) -> None:
    add(store, ended(1))
    found(index)
    assert index.path.stat().st_mode & 0o777 == 0o600


def test_an_older_database_in_the_place_is_indexed_anew(path: Path, tmp_path: Path, store: Store) -> None:
    add(store, *(ended(number) for number in range(1, 5)))
    index = HistoryIndex(path)
    assert found(index) == [4, 3, 2, 1]
    other = tmp_path / "other" / "tarmac.db"
    other.parent.mkdir()
    with opened(other) as older:
        add(older, ended(1, name="older"))
    store.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    other.rename(path)
    assert found(index) == [1]
    assert found(index, "older") == [1]
    index.close()
    store.__init__(path)  # type: ignore[misc]  # for the fixture, which closes it


def test_imported_jobs_take_their_places_among_the_others(store: Store, index: HistoryIndex) -> None:
    add(store, ended(1, at=100), ended(2, at=300))
    assert found(index) == [2, 1]
    add(store, ended(3, at=200))
    index.rebuild()
    assert found(index) == [2, 3, 1]


def test_a_damaged_job_is_listed(path: Path, store: Store, index: HistoryIndex) -> None:
    add(store, ended(1, name="first"), ended(2, name="second"))
    writer = connect_writer(path, SecretFiles(path))
    writer.execute("UPDATE jobs SET spec = '{bad', status = '{bad' WHERE id = 1")
    writer.close()
    assert sorted(found(index)) == [1, 2]
    assert found(index, "first") == [1]


def test_a_build_in_parts_begins_with_the_newest(store: Store, index: HistoryIndex) -> None:
    add(store, *(ended(number) for number in range(1, 31)))
    assert index.catch_up(10) == 20
    with index.opened() as connection:
        assert [row[0] for row in connection.execute("SELECT job FROM history ORDER BY place DESC")] == [
            *range(30, 20, -1)
        ]
    add(store, ended(31))
    assert found(index) == [*range(31, 0, -1)]


def test_without_trigrams_everything_is_found_as_well(store: Store, index: HistoryIndex) -> None:
    index.has_words = False
    add(store, ended(1, name="resnet", owner="bob"), ended(2, tags=("a", "b")), ended(3))
    change(store, replace(ended(3), spec=replace(ended(3).spec, name="later")), "JobEdited")
    assert found(index, "RESN") == [1]
    assert found(index, owner="bob") == [1]
    assert found(index, tag="b") == [2]
    assert found(index, "later") == [3]
    index.forget([1])
    assert found(index, owner="bob") == []
