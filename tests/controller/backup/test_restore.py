"""A backup is restored so that nothing runs a second time and no id is given twice, also after a crash."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tarmac.controller.backup.create import Wanted, write_backup
from tarmac.controller.backup.restore import examine, restore
from tarmac.controller.engine.unknown_runs import SkippedIds
from tarmac.controller.state_directory.state_lock import StateLock
from tarmac.core.model.job import Job
from tarmac.core.model.status import Held, Queued, Unknown, state_name
from tarmac.refusal import Refused
from tarmac.store.history.restored import BY, SKIPPED_IDS
from tarmac.store.snapshots import SnapshotStore
from tarmac.store.store import Store
from tests.core.support.builders import a_booking, a_job, a_status
from tests.store.history.past import change, ended
from tests.store.kept import commit, new, opened, removed
from tests.store.test_snapshots import a_tree, pack_of

NOTHING_MORE = Wanted(with_logs=False, with_snapshots=False)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def a(number: int, state: str, attempt: int | None = None) -> Job:
    job = a_job(number, status=a_status(state, a_booking(number)))
    return job if attempt is None else replace(job, attempt=attempt)


def save(state: Path, wanted: Wanted = NOTHING_MORE) -> Path:
    path = state.parent / "backup.tar"
    with path.open("w+b") as file:
        write_backup(file, state, state / "config.toml", wanted, state.parent / "scratch")
    assert sorted(item.name for item in state.parent.iterdir()) == ["backup.tar", "state"]
    return path


def restored(path: Path, state: Path, **more: bool) -> tuple[int, int]:
    done = restore(path, state, state / "config.toml", **{"with_config": False, **more})
    return done.held, done.taken_over


def jobs(state: Path) -> dict[int, Job]:
    with opened(state / "tarmac.db") as store:
        return dict(store.reader.jobs(range(1, 100)))


@pytest.fixture
def used(state: Path) -> Iterator[Store]:
    """A queue of which a backup is made."""
    with opened(state / "tarmac.db") as store:
        commit(
            store,
            new(
                ended(1),
                a(2, "queued"),
                a(3, "queued"),
                a(4, "running"),
                a(5, "starting"),
                a(6, "queued"),
                replace(a_job(7), status=Held(by="ann", since=1.0)),
            ),
        )
        yield store


def test_what_ran_since_the_backup_does_not_run_again(used: Store, state: Path) -> None:
    path = save(state)
    change(used, a(3, "succeeded", attempt=1), "JobExited")
    change(used, a(4, "failed", attempt=1), "JobExited")
    change(used, a(5, "running", attempt=1), "JobStarted")
    change(used, a(6, "cancelled", attempt=0), "StopAsked")
    change(used, a(1, "running", attempt=2), "JobStarted")
    commit(used, new(a(8, "running"), a(9, "queued")))
    used.close()
    assert restored(path, state) == (0, 5)
    found = jobs(state)
    names = {number: state_name(job.status) for number, job in found.items()}
    assert names == {
        1: "running",
        2: "queued",
        3: "succeeded",
        4: "failed",
        5: "running",
        6: "queued",  # it was cancelled, and had never run
        7: "held",
        8: "running",
    }
    with opened(state / "tarmac.db") as store:
        assert store.reader.next_id() == 10
        skipped = SkippedIds(store.reader.settings()[SKIPPED_IDS])
        assert [number in skipped for number in (7, 8, 9, 10)] == [False, False, True, False]
        assert store.load().next_id == 10
    used.__init__(state / "tarmac.db")  # type: ignore[misc]  # for the fixture, which closes it


@pytest.mark.parametrize("what", ["missing", "damaged"])
def test_without_the_newer_state_waiting_jobs_are_held(used: Store, state: Path, what: str) -> None:
    path = save(state)
    used.close()
    database = state / "tarmac.db"
    if what == "missing":
        for file in state.iterdir():
            if file.is_file():
                file.unlink()
    else:
        database.write_bytes(b"not a database at all" * 500)
    assert restored(path, state) == (3, 0)
    found = jobs(state)
    assert all(found[number].status == replace(found[2].status) for number in (3, 6))  # type: ignore[type-var]
    held = found[2].status
    assert isinstance(held, Held)
    assert held.by == BY
    assert state_name(found[4].status) == "running"
    assert isinstance(found[5].status, Unknown)
    assert found[5].status.ended_at is None
    asides = list(state.glob("before-restore-*"))
    assert len(asides) == (what == "damaged")
    if asides:
        assert (asides[0] / "tarmac.db").read_bytes().startswith(b"not a database")
    used.__init__(database)  # type: ignore[misc]


def test_a_waiting_job_that_was_removed_since_is_held(used: Store, state: Path) -> None:
    path = save(state)
    commit(used, removed(2, 7))
    used.close()
    assert restored(path, state) == (1, 2)
    assert isinstance(jobs(state)[2].status, Held)
    assert isinstance(jobs(state)[3].status, Queued)
    used.__init__(state / "tarmac.db")  # type: ignore[misc]


def test_secrets_config_and_logs_come_back(used: Store, state: Path) -> None:
    packed = used.pack_environment({"A": "1", "API_TOKEN": "hush"})
    job = a_job(8)
    spec = replace(job.spec, environment=packed.digest)
    commit(used, new(replace(job, spec=spec), environments={packed.digest: packed.stored}))
    (state / "config.toml").write_text("grace_s = 1\n")
    (state / "logs").mkdir()
    (state / "logs" / "1.1.log").write_text("output")
    path = save(state, Wanted(with_logs=True, with_snapshots=True))
    used.close()
    for item in [*state.rglob("*")]:
        if item.is_file():
            item.unlink()
    (state / "config.toml").write_text("grace_s = 2\n")
    restored(path, state)
    assert (state / "config.toml").read_text() == "grace_s = 2\n"
    assert (state / "logs" / "1.1.log").read_text() == "output"
    with opened(state / "tarmac.db") as store:
        assert store.reader.environment(packed.digest) == {"A": "1", "API_TOKEN": "hush"}
    restored(path, state, with_config=True)
    assert (state / "config.toml").read_text() == "grace_s = 1\n"
    used.__init__(state / "tarmac.db")  # type: ignore[misc]


def test_a_running_controller_is_not_overwritten(used: Store, state: Path) -> None:
    path, lock = save(state), StateLock(state)
    assert lock.take()
    with pytest.raises(Refused) as refused:
        restored(path, state)
    assert refused.value.key == "backup.controller_runs"
    assert not list(state.glob(".restore*"))
    lock.release()


def test_a_backup_with_a_newer_schema_or_a_damaged_database_is_refused(used: Store, state: Path) -> None:
    from tarmac.controller.backup import archive

    for content, key in ((b"garbage" * 1000, None), (None, "backup.newer")):
        database = state.parent / "copy.db"
        if content is None:
            database.unlink()
            with closing(sqlite3.connect(database)) as made:
                made.execute("CREATE TABLE t (x)")
        else:
            database.write_bytes(content)
        path = state.parent / "made.tar"
        with path.open("wb") as file:
            made_archive = archive.ArchiveWriter(file)
            made_archive.add_file("tarmac.db", database)
            made_archive.finish({"schema": 8 if key is None else 999, "version": "9.9"})
        with pytest.raises(Exception) as refused:  # of the store, or ours
            examine(path, state)
        assert key is None or (isinstance(refused.value, Refused) and refused.value.key == key)
        assert not list(state.glob(".restore*"))
    assert len(used.reader.jobs(range(1, 10))) == 7


@pytest.mark.parametrize("point", ["keep:restore-unpacked", "keep:restore-aside", "keep:restore-installed"])
def test_a_crash_leaves_the_old_or_the_new_state_whole(used: Store, state: Path, point: str) -> None:
    path = save(state)
    change(used, replace(a(2, "succeeded", attempt=1)), "JobExited")
    used.close()
    command = [sys.executable, "-m", "tarmac.controller.backup", "restore", str(path), "--state", str(state)]
    environment = {**os.environ, "TARMAC_CRASH_AT": point, "TARMAC_HOME": str(state)}
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    assert state_name(jobs(state)[2].status) == "succeeded"  # known to both
    assert subprocess.run(command, env={**os.environ, "TARMAC_HOME": str(state)}, check=False).returncode == 0
    assert state_name(jobs(state)[2].status) == "succeeded"
    assert not list(state.glob(".restore*"))
    for aside in state.glob("before-restore-*"):
        with opened(aside / "tarmac.db") as store:
            assert len(store.reader.jobs(range(1, 10))) == 7
    used.__init__(state / "tarmac.db")  # type: ignore[misc]


def test_jobs_that_were_submitted_and_ran_since_are_kept_and_the_others_are_named(used: Store, state: Path) -> None:
    path = save(state)
    commit(used, new(ended(8), a(9, "queued"), replace(a(10, "queued"), attempt=1), a(11, "queued")))
    used.close()
    done = restore(path, state, state / "config.toml", with_config=False)
    assert (done.taken_over, done.left) == (2 + 2, [9, 11])  # 4 and 5 were at work then
    found = jobs(state)
    assert sorted(found) == [*range(1, 9), 10]
    assert state_name(found[8].status) == "succeeded"
    used.__init__(state / "tarmac.db")  # type: ignore[misc]


def test_messages_that_were_sent_since_are_not_sent_again(used: Store, state: Path) -> None:
    def add(connection: sqlite3.Connection, token: str) -> None:
        connection.execute(
            "INSERT INTO outbox (token, owner, target, at, event, detail, due_at) VALUES (?, '', 't', 1, 'e', '{}', 1)",
            (token,),
        )
        connection.commit()

    with closing(sqlite3.connect(state / "tarmac.db")) as connection:
        for token in ("sent", "waits"):
            add(connection, token)
        path = save(state)
        connection.execute("DELETE FROM outbox WHERE token = 'sent'")
        add(connection, "later")
    used.close()
    restored(path, state)
    with closing(sqlite3.connect(state / "tarmac.db")) as connection:
        assert connection.execute("SELECT token FROM outbox ORDER BY id").fetchall() == [("waits",), ("later",)]
    used.__init__(state / "tarmac.db")  # type: ignore[misc]


@pytest.mark.parametrize("is_damaged", [False, True])
def test_snapshots_of_the_backup_and_of_today_are_both_there(used: Store, state: Path, *, is_damaged: bool) -> None:
    trees = [a_tree(a=b"1"), a_tree(a=b"2")]
    present = state / "snapshots.db"
    for place, (tree, objects) in enumerate(trees):
        store = SnapshotStore(present)
        store.add(pack_of(objects))
        assert store.add_tree(tree, 1 << 30, 1.0)
        if place == 0:
            store.close()
            path = save(state, Wanted(with_logs=False, with_snapshots=True))
    crashed = {name: (state / name).read_bytes() for name in ("snapshots.db", "snapshots.db-wal")}
    store.close()
    for name, data in crashed.items():  # as a crash leaves them: the newest is in the log
        (state / name).write_bytes(data)
    if is_damaged:
        (state / "snapshots.db-wal").unlink()
        present.write_bytes(b"not a database" * 500)
    used.close()
    done = restore(path, state, state / "config.toml", with_config=False)
    assert stored_trees(present) == {trees[0][0]} | (set() if is_damaged else {trees[1][0]})
    assert done.aside is not None
    if not is_damaged:
        assert trees[1][0] in stored_trees(done.aside / "snapshots.db")
    used.__init__(state / "tarmac.db")  # type: ignore[misc]


def stored_trees(path: Path) -> set[bytes]:
    store = SnapshotStore(path)
    try:
        return {tree.hash for tree in store.trees()}
    finally:
        store.close()
