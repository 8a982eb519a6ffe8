"""Databases of all released schemas open, are migrated and keep their contents."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tarmac.core.events import JobsSubmitted
from tarmac.core.invariants import invariants
from tarmac.core.model.gpu import Drain
from tarmac.core.model.ids import JobId
from tarmac.core.model.queue import Mode
from tarmac.core.model.status import Requeue, is_ended
from tarmac.store.database import schema
from tarmac.store.database.database import damage
from tests.core.support.builders import a_spec
from tests.store.kept import happen, opened
from tests.store.write_schema import DRAIN, ENVIRONMENT, FOLDER, HOURS, LINK, MODE, RESERVATION, jobs, write

VERSIONS = range(1, schema.VERSION + 1)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def old(version: int, path: Path) -> Path:
    shutil.copy(FOLDER / f"v{version}.db", path)
    return path


def test_there_is_a_database_of_every_version() -> None:
    assert sorted(item.name for item in FOLDER.glob("*.db")) == sorted(f"v{version}.db" for version in VERSIONS)


def test_every_job_of_an_old_database_is_unchanged(old: Path, version: int) -> None:
    kept = jobs(version)
    with opened(old) as store:
        state = store.load()
        assert list(store.reader.jobs(range(1, 99)).values()) == kept
    assert list(state.jobs.values()) == [job for job in kept if not is_ended(job.status)]
    assert state.next_id == len(kept) + 1
    assert invariants.violations(state) == []


def test_stories_environments_and_submits_of_an_old_database_are_there(old: Path, version: int) -> None:
    with opened(old) as store:
        told = [(event.kind, event.at, event.detail) for event in store.reader.story(3)]
        assert store.reader.environment(jobs()[0].spec.environment) == ENVIRONMENT
        assert store.reader.submission("ann", "token") == range(1, len(jobs(version)) + 1)
    assert told == [("JobSubmitted", 100.0, {}), ("Decided", 105.0, {"node": "box", "gpus": [3]})]


def test_the_mode_and_reservations_of_an_old_database_are_unchanged(old: Path, version: int) -> None:
    with opened(old) as store:
        state = store.load()
        hours = {(hour, owner, project): gpu_s for hour, owner, project, gpu_s in store.reader.gpu_hours(0)}
    is_kept = version >= 3
    assert (state.mode, state.reservations) == ((MODE, {1: RESERVATION}) if is_kept else (Mode(), {}))
    assert hours == (HOURS if is_kept else {})


def test_the_drained_nodes_of_an_old_database_are_unchanged(old: Path, version: int) -> None:
    with opened(old) as store:
        drained = {node.name: node.drain for node in store.load().nodes.values() if node.drain is not None}
    assert drained == ({"box": DRAIN} if version >= 12 else {})


def test_the_arrays_of_an_old_database_are_groups(old: Path, version: int) -> None:
    if version < 3:
        pytest.skip("it has no arrays")
    with opened(old) as store:
        group = store.reader.groups.find(11)
        counts = store.reader.groups.counts([11])
        indices = [job.index for job in store.reader.jobs([11, 12]).values()]
    if version < 8:
        assert group is not None
        assert (group.kind, group.varies, group.span) == ("array", "[0-1]", range(11, 13))
    assert counts == {11: {"held": 1, "queued": 1}}
    assert indices == [0, 1]


def test_an_old_database_accepts_new_jobs(old: Path) -> None:
    with opened(old) as store:
        happen(store, JobsSubmitted(specs=(a_spec(name="next"),)))
    with opened(old) as store:
        assert store.load().jobs[max(store.load().jobs)].spec.name == "next"
        (version,) = store.reader._connection.execute("PRAGMA user_version").fetchone()
    assert version == schema.VERSION


def test_a_damaged_job_does_not_keep_a_database_from_being_migrated(old: Path, version: int) -> None:
    if version not in range(2, schema.VERSION):
        pytest.skip("it has no usage of jobs, or is not migrated")
    connection = sqlite3.connect(old)
    (job,) = connection.execute("SELECT id FROM jobs WHERE state = 'succeeded'").fetchone()
    connection.execute("UPDATE jobs SET status = '{bad', name = 'train' WHERE id = ?", (job,))
    connection.execute("INSERT OR REPLACE INTO usage (job, peak_gpu_memory_bytes) VALUES (?, 5)", (job,))
    connection.commit()
    connection.close()
    with opened(old) as store:
        assert len(store.load().jobs) > 0


def test_a_migrated_database_has_the_schema_of_a_new_one(old: Path, tmp_path: Path) -> None:
    write(tmp_path / "new.db")
    with opened(old):
        pass
    assert _shape(old) == _shape(tmp_path / "new.db")


@pytest.mark.parametrize(
    ("state", "stored", "status"),
    [
        (
            "stopping",
            {"requeue": "made room for job 7", "for_job": 7},
            {"requeue": Requeue(why="preempted", for_job=JobId(7))},
        ),
        ("stopping", {"requeue": "ann stopped the queue"}, {"requeue": Requeue(why="queue_stopped", by="ann")}),
        ("stopping", {"requeue": None, "for_job": None}, {"requeue": None}),
        ("queued", {"note": "made room for job 12"}, {"requeued": Requeue(why="preempted", for_job=JobId(12))}),
        ("queued", {"note": "o'hara stopped the queue"}, {"requeued": Requeue(why="queue_stopped", by="o'hara")}),
        ("queued", {"note": None}, {"requeued": None}),
    ],
)
def test_a_stored_requeue_sentence_becomes_a_record(
    path: Path, state: str, stored: dict[str, object], status: dict[str, object]
) -> None:
    shutil.copy(FOLDER / "v3.db", path)
    connection = sqlite3.connect(path)
    ((number, text),) = connection.execute(
        "SELECT id, status FROM jobs WHERE state = ? ORDER BY id LIMIT 1", (state,)
    ).fetchall()
    connection.execute("UPDATE jobs SET status = ? WHERE id = ?", (json.dumps(json.loads(text) | stored), number))
    connection.commit()
    connection.close()
    with opened(path) as store:
        found = store.load().jobs[JobId(number)].status
    assert {name: getattr(found, name) for name in status} == status


def _shape(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("reason", "now"), [("drained by ann", None), ("drained by bob", "drained by bob"), ("fan", "fan")]
)
def test_a_sentence_that_meant_no_reason_for_a_drain_still_means_it(path: Path, reason: str, now: str | None) -> None:
    shutil.copy(FOLDER / "v4.db", path)
    connection = sqlite3.connect(path)
    drain = json.dumps({"reason": reason, "by": "ann", "since": 1.0, "healthy_since": None})
    connection.execute("INSERT INTO gpus VALUES ('box', 'box-0', ?, 1)", (drain,))
    connection.commit()
    connection.close()
    with opened(path) as store:
        ((_, _, found, _),) = store.reader.gpus()
    assert found == Drain(reason=now, by="ann", since=1.0)


def test_sqlite_finds_nothing_wrong_once_an_old_database_was_opened(old: Path, version: int) -> None:
    with opened(old) as store:
        store.load()
    with sqlite3.connect(old) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        links = connection.execute("SELECT job, kind, url FROM links").fetchall()
    assert links == ([LINK] if version >= 9 else [])


def test_links_of_version_8_do_not_count_as_damage(path: Path) -> None:
    shutil.copy(FOLDER / "v8.db", path)
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO links VALUES (?, ?, ?)", LINK)
    with sqlite3.connect(path) as connection:
        assert damage(connection) is None
    with opened(path) as store:
        assert store.reader.links([7]) == {7: [LINK]}


def test_real_damage_is_found(path: Path) -> None:
    write(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'owner TEXT NOT NULL', 'owner TEXT') WHERE name = 'jobs'"
        )
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE jobs SET owner = NULL WHERE id = 3")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'owner TEXT', 'owner TEXT NOT NULL') WHERE name = 'jobs'"
        )
    with sqlite3.connect(path) as connection:
        assert damage(connection) == "NULL value in jobs.owner"
