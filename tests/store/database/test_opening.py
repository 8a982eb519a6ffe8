"""Foreign, damaged and newer files are refused with a clear message and left unchanged."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tarmac.errors import TarmacError, Unavailable, UserError
from tarmac.store.database import schema
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_status
from tests.store.kept import commit, faults, new, opened


def folder_as_it_is(folder: Path) -> dict[str, str]:
    return {item.name: hashlib.sha256(item.read_bytes()).hexdigest() for item in folder.iterdir() if item.is_file()}


def refusal(path: Path) -> TarmacError:
    """Open and load like the controller; expect a refusal that changes nothing."""
    before = folder_as_it_is(path.parent)
    with pytest.raises(TarmacError) as caught:
        with opened(path) as store:
            store.load()
    assert folder_as_it_is(path.parent) == before, "a refused file is not touched, and nothing is left beside it"
    assert str(path) in caught.value.message
    assert caught.value.hint
    return caught.value


def ours(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(*[a_job(number) for number in range(1, 400)], a_job(400, status=a_status("failed"))))


def another_programs(path: Path, *, application_id: int = 0, version: int = 0, mode: str = "DELETE") -> None:
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA journal_mode = {mode}")
    other.execute("CREATE TABLE bookmarks (address TEXT)")
    other.execute(f"PRAGMA application_id = {application_id}")
    other.execute(f"PRAGMA user_version = {version}")
    other.close()


def set_version(path: Path, version: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA user_version = {version}")
    return connection


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize(("application_id", "version"), [(0, 0), (0, 3), (77, 0), (77, 1)])
def test_another_programs_database_is_refused(path: Path, mode: str, application_id: int, version: int) -> None:
    another_programs(path, application_id=application_id, version=version, mode=mode)
    error = refusal(path)
    assert isinstance(error, UserError)
    assert "another program" in error.message


def test_a_newer_schema_is_refused(path: Path) -> None:
    ours(path)
    set_version(path, schema.VERSION + 1).close()
    error = refusal(path)
    assert isinstance(error, UserError)
    assert f"newer Tarmac (schema {schema.VERSION + 1}; this version supports {schema.VERSION})" in error.message


def test_a_newer_schema_is_noticed_if_it_is_only_in_the_wal(path: Path) -> None:
    """A newer Tarmac was killed right after it migrated the file."""
    ours(path)
    connection = set_version(path, schema.VERSION + 1)
    elsewhere = path.parent / "copy"
    elsewhere.mkdir()
    for name in (path.name, f"{path.name}-wal"):
        shutil.copy(path.parent / name, elsewhere / name)
    connection.close()
    assert "newer Tarmac" in refusal(elsewhere / path.name).message


def test_bytes_that_are_not_a_database_are_refused(path: Path) -> None:
    for content in (b"hello\n", os.urandom(10_000), b"SQLite format 3\0", b"\0" * 8192):
        path.write_bytes(content)
        assert "cannot be read as a database" in refusal(path).message


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(path: Path, kept: float) -> None:
    ours(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    assert isinstance(refusal(path), UserError)


def _overwrite(path: Path, start: int, stop: int) -> None:
    content = bytearray(path.read_bytes())
    content[start:stop] = b"\xff" * (stop - start)
    path.write_bytes(content)


def test_an_empty_file_beside_a_log_is_refused_and_the_log_is_kept(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(a_job(1)))
        commit(store, new(a_job(2)))
        log = Path(f"{path}-wal").read_bytes()
    path.write_bytes(b"")
    Path(f"{path}-wal").write_bytes(log)
    assert "the file is empty, but the log beside it is not" in refusal(path).message
    assert Path(f"{path}-wal").read_bytes() == log


def test_a_damaged_first_page_is_refused(path: Path) -> None:
    ours(path)
    _overwrite(path, 100, 4000)
    assert "cannot be read" in refusal(path).message


def test_damage_is_refused_if_live_jobs_cannot_be_read(path: Path) -> None:
    ours(path)
    size = path.stat().st_size
    _overwrite(path, size // 2, size - 4096)
    error = refusal(path)
    assert isinstance(error, UserError)
    assert "restore it from a backup" in str(error.hint)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE jobs SET status = '{\"booking\": 3}', state = 'running' WHERE id = 7",
        "UPDATE jobs SET spec = 'no json' WHERE id = 7",
        "UPDATE jobs SET state = 'no such state' WHERE id = 7",
    ],
)
def test_rows_with_unexpected_contents_are_refused(path: Path, damage: str) -> None:
    ours(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(damage)
    connection.close()
    assert isinstance(refusal(path), UserError)


def test_faults_lists_what_sqlite_finds(path: Path) -> None:
    ours(path)
    assert faults(path) == []
    size = path.stat().st_size
    _overwrite(path, size // 2, size - 4096)
    assert faults(path) != []
    path.write_bytes(b"hello\n" * 1000)
    assert "not a database" in faults(path)[0]


def test_an_unopenable_file_is_not_reported_as_damaged(path: Path) -> None:
    path.mkdir()
    error = refusal(path)
    assert isinstance(error, Unavailable)
    assert "cannot be opened" in error.message
    with pytest.raises(Unavailable):
        Store(path.parent / "nowhere" / "tarmac.db")


@pytest.mark.parametrize(
    "prepare",
    [
        lambda path: None,
        lambda path: path.write_bytes(b""),
        lambda path: sqlite3.connect(path).execute("PRAGMA journal_mode = WAL").connection.close(),
    ],
    ids=["absent", "empty", "killed before the first table"],
)
def test_a_missing_file_is_created(path: Path, prepare: Callable[[Path], None]) -> None:
    prepare(path)
    ours(path)
    with opened(path) as store:
        assert len(store.load().jobs) == 399


@pytest.mark.parametrize("name", ["with space", "per%cent", "ques?tion", "ha#sh", "sn☃w", "a%20b"])
def test_any_directory_name_works(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    for _ in range(2):
        with opened(folder / "tarmac.db") as store:
            assert store.load().next_id == 1
    assert [item.name for item in folder.iterdir()] == ["tarmac.db"]


def test_a_failed_migration_step_leaves_the_version_before_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours(path)
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "CREATE TABLE half (x); CREATE TABLE jobs (x)"))
    monkeypatch.setattr(schema, "VERSION", len(schema.STEPS))
    with pytest.raises(TarmacError):
        Store(path)
    monkeypatch.undo()
    with opened(path) as store:
        assert len(store.load().jobs) == 399
        tables = {row[0] for row in store.reader._connection.execute("SELECT name FROM sqlite_master")}
        assert "half" not in tables
