"""A real full disk: a commit fails as a whole, and works again once there is space."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.core.invariants import invariants
from tarmac.core.model.job import Job
from tarmac.errors import Unavailable
from tarmac.refusal import Refused
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_spec
from tests.services import need
from tests.store.kept import DEADLINE_S, commit, faults, new, opened


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    need("root")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:  # root of a container that may not
        words = f"no separate file system for a full disk: {mounted.stderr.decode().strip()}"
        pytest.fail(words) if os.environ.get("CI") == "true" else pytest.skip(words)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Path:
    """Fill the disk to the last byte."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue
    return filler


def is_writable(store: Store) -> Exception | None:
    said: list[Exception | None] = []
    is_done = threading.Event()

    def done(error: Exception | None) -> None:
        said.append(error)
        is_done.set()

    store.try_to_write(done)
    assert is_done.wait(DEADLINE_S)
    return said[0]


def test_a_full_disk_refuses_the_whole_commit_until_there_is_space(disk: Path) -> None:
    path = disk / "tarmac.db"
    with opened(path) as store:
        commit(store, new(a_job(1)))
        filler = fill(disk)
        with pytest.raises(Refused) as caught:
            commit(store, new(*_large_jobs(2, 60)))
        assert (caught.value.kind, caught.value.key) == ("unavailable", "store.cannot_write")
        assert isinstance(is_writable(store), Refused)
        assert list(store.load().jobs) == [1], "reading goes on, and nothing half-written is seen"
        filler.unlink()
        assert is_writable(store) is None
        commit(store, new(*_large_jobs(2, 20)))
        assert len(store.load().jobs) == 19
    assert faults(path) == []
    with opened(path) as store:
        assert list(store.load().jobs) == list(range(1, 20)), "ids of the refused commit were not used up"


def test_a_disk_that_fills_up_has_exactly_the_acknowledged_jobs(disk: Path) -> None:
    path = disk / "tarmac.db"
    with opened(path) as store:
        acknowledged = 0
        with pytest.raises(Refused):
            for number in range(1, 2000):
                commit(store, new(*_large_jobs(number, number + 1)))
                acknowledged = number
        assert acknowledged > 10
        state = store.load()
        assert list(state.jobs) == list(range(1, acknowledged + 1))
        assert invariants.violations(state) == []
    with opened(path) as store:
        assert len(store.load().jobs) == acknowledged
    assert faults(path) == []


def test_opening_on_a_full_disk_is_not_reported_as_damage(disk: Path) -> None:
    path = disk / "tarmac.db"
    with opened(path) as store:
        commit(store, new(a_job(1)))
    filler = fill(disk)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(Unavailable) as caught:
        Store(path)
    assert "cannot be opened" in caught.value.message
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    filler.unlink()
    with opened(path) as store:
        assert list(store.load().jobs) == [1]


def test_a_first_start_on_a_full_disk_leaves_no_broken_file(disk: Path) -> None:
    filler = fill(disk)
    with pytest.raises(Unavailable):
        Store(disk / "tarmac.db")
    filler.unlink()
    with opened(disk / "tarmac.db") as store:
        assert store.load().next_id == 1


def _large_jobs(first: int, stop: int) -> list[Job]:
    made = []
    for number in range(first, stop):
        job = a_job(number)
        job.spec = a_spec(command=("x" * 10_000,))
        made.append(job)
    return made
