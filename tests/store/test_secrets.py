"""Secrets of a removed job do not stay in the database or beside it."""

from __future__ import annotations

import shutil
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tarmac.core.model.job import Job
from tarmac.store import rows
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_status
from tests.store.kept import commit, new, opened, removed
from tests.store.write_schema import FOLDER

SECRET = "hunter2-" * 40


def a_job_with(number: int, digest: str) -> Job:
    job = a_job(number, status=a_status("succeeded"))
    return replace(job, spec=replace(job.spec, environment=digest, command=("echo", SECRET)))


def is_anywhere(path: Path, data: bytes) -> bool:
    """In the database, its WAL file, or any other file beside it."""
    return any(data in file.read_bytes() for file in path.parent.iterdir())


def test_an_environment_is_deleted_with_the_last_job_that_refers_to_it(store: Store, path: Path) -> None:
    digest, body = rows.pack_environment({"TOKEN": SECRET})
    commit(store, new(a_job_with(1, digest), a_job_with(2, digest), environments={digest: body}))
    commit(store, removed(1))
    assert store.reader.environment(digest) == {"TOKEN": SECRET}
    assert is_anywhere(path, body)
    assert is_anywhere(path, SECRET.encode())
    commit(store, removed(2))
    assert not is_anywhere(path, body)
    assert not is_anywhere(path, SECRET.encode())


def test_an_environment_that_is_used_again_at_once_is_kept(store: Store) -> None:
    digest, body = rows.pack_environment({"TOKEN": SECRET})
    commit(store, new(a_job_with(1, digest), environments={digest: body}))
    batch = removed(1)
    batch.changes.new.append(a_job_with(2, digest))
    batch.environments[digest] = body
    commit(store, batch)
    assert store.reader.environment(digest) == {"TOKEN": SECRET}


def test_the_log_is_emptied_later_if_a_reader_is_in_the_way(store: Store, path: Path) -> None:
    digest, body = rows.pack_environment({"TOKEN": SECRET})
    commit(store, new(a_job_with(1, digest), environments={digest: body}))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM jobs").fetchone()
    commit(store, removed(1))
    assert is_anywhere(path, body)
    reader.close()
    commit(store, new(a_job(2)))
    assert not is_anywhere(path, body)


def test_what_a_killed_controller_had_removed_is_not_found_after_the_next_commit(path: Path) -> None:
    digest, body = rows.pack_environment({"TOKEN": SECRET})
    with opened(path) as store:
        commit(store, new(a_job_with(1, digest), environments={digest: body}))
        before = Path(f"{path}-wal").read_bytes()
        commit(store, removed(1))
        copy = path.parent / "copy"
        copy.mkdir()
        shutil.copy(path, copy / path.name)
    (copy / f"{path.name}-wal").write_bytes(before)
    with opened(copy / path.name) as store:
        commit(store, new(a_job(3)))
        assert not any(body in file.read_bytes() for file in copy.iterdir() if file.name.endswith("-wal"))


@pytest.mark.parametrize("spec", [None, "not JSON", "{}"])
def test_environments_that_earlier_versions_left_are_deleted(path: Path, spec: str | None) -> None:
    """Also if a job of the database is damaged."""
    shutil.copy(FOLDER / "v5.db", path)
    digest, body = rows.pack_environment({"TOKEN": SECRET})
    old = sqlite3.connect(path)
    if spec is not None:
        old.execute("UPDATE jobs SET spec = ? WHERE id = 7", (spec,))
    old.execute("INSERT INTO environments VALUES (?, ?)", (digest, body))
    old.commit()
    old.close()
    assert is_anywhere(path, body)
    with opened(path) as store:
        commit(store, new(a_job(99)))
        assert not is_anywhere(path, body)


def test_the_jobs_of_an_environment_are_found_without_reading_all_jobs(store: Store, path: Path) -> None:
    reader = sqlite3.connect(path)
    plan = reader.execute(f"EXPLAIN QUERY PLAN SELECT 1 FROM jobs WHERE {rows.ENVIRONMENT_OF_JOB} = 'x'").fetchall()
    reader.close()
    assert "jobs_environment" in str(plan)


def test_commits_do_not_wait_for_a_program_that_reads(store: Store, path: Path) -> None:
    """Such as a shell of sqlite3 that somebody left open. Each wait would take SQLite's 5 s."""
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM jobs").fetchone()
    began = time.monotonic()
    for number in range(1, 7):
        commit(store, new(a_job(number, status=a_status("succeeded"))))
        commit(store, removed(number))
    assert time.monotonic() - began < 20
    reader.close()
