"""The database file shrinks after jobs were removed, when no commit waits, and loses nothing."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.core.changes import Changes
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.store.batch import Batch
from tarmac.store.database import shrink
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_spec
from tests.home import Home, until
from tests.services import need
from tests.store.kept import commit, faults, new, removed

SCHEMAS = sorted((Path(__file__).parents[1] / "schemas").glob("*.db"))
MANY = 4000


def jobs(first: int, count: int) -> list[Job]:
    found = [a_job(number) for number in range(first, first + count)]
    for job in found:
        job.spec = a_spec(name="x" * 1000)
    return found


def fill_and_remove(store: Store, first: int = 1000) -> int:
    """Returns the size of the file between the two."""
    commit(store, new(*jobs(first, MANY)))
    size = store.size_bytes()
    commit(store, removed(*range(first, first + MANY)))
    return size


def test_the_file_shrinks_after_a_removal(tmp_path: Path) -> None:
    path = tmp_path / "tarmac.db"
    store = Store(path)
    commit(store, new(*jobs(1, 10)))
    size = fill_and_remove(store)
    assert size > 4_000_000
    assert until(lambda: store.size_bytes() < size / 10)
    assert len(store.load().jobs) == 10
    commit(store, new(*jobs(20, 1)))  # and goes on
    store.close()
    assert not faults(path)


def test_commits_go_on_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.store.writer.QUIET_S", 0.0)
    store = Store(tmp_path / "tarmac.db")
    fill_and_remove(store)
    for number in range(1, 50):
        commit(store, new(*jobs(number, 1)))
    assert len(store.load().jobs) == 49
    store.close()
    assert not faults(tmp_path / "tarmac.db")


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_databases_of_older_versions_shrink_too(schema: Path, tmp_path: Path) -> None:
    path = tmp_path / "tarmac.db"
    shutil.copy(schema, path)
    store = Store(path)
    before = store.load().jobs
    size = fill_and_remove(store, 100_000)
    assert until(lambda: store.size_bytes() < size / 4)
    assert store.load().jobs == before
    store.close()
    assert not faults(path)


def test_a_file_left_large_by_an_older_version_shrinks_after_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tarmac.db"
    monkeypatch.setattr("tarmac.store.writer.QUIET_S", 600.0)
    store = Store(path)
    fill_and_remove(store)
    store.close()
    size = path.stat().st_size
    assert size > 4_000_000
    monkeypatch.undo()
    store = Store(path)
    assert until(lambda: store.size_bytes() < size / 10)
    store.close()


def test_a_file_that_is_mostly_in_use_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tarmac.db"
    store = Store(path)
    commit(store, new(*jobs(1, MANY)))
    commit(store, removed(*range(1, MANY // 3)))
    store.close()
    with sqlite3.connect(path) as connection:
        assert not shrink.shrink(connection)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    need("root")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tarmac-test", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_leaves_it_as_it_is(disk: Path) -> None:
    path = disk / "tarmac.db"
    store = Store(path)
    commit(store, new(*jobs(1, MANY)))
    commit(store, Batch(changes=Changes(), removed=[JobId(number) for number in range(11, MANY + 1)]))
    filler = (disk / "filler").open("wb", buffering=0)
    try:
        while filler.write(b"x" * 4096):
            pass
    except OSError:
        pass
    with sqlite3.connect(path) as connection:
        shrink.shrink(connection)
    filler.close()
    (disk / "filler").unlink()
    assert sorted(store.load().jobs) == list(range(1, 11))
    store.close()
    assert not faults(path)


def test_the_database_shrinks_after_rm_all(home: Home) -> None:
    assert home.tarmac("add", "-g", "0", "--hold", "--array", "5000", "--", "true").returncode == 0
    assert home.tarmac("kill", "all").returncode == 0
    large = home.client().status()["database_bytes"]
    assert large > 4_000_000
    assert home.tarmac("rm", "all").returncode == 0
    assert until(lambda: home.client().status()["database_bytes"] < large / 5)
