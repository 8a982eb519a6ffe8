"""Groups and the numbers of their jobs in each state, which follow every change of a job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Held
from tarmac.store.groups import _ACTIVE, _UNKNOWN, Group
from tests.core.support.builders import a_job, a_status
from tests.store.kept import changed, commit, new, opened

GROUP = Group(
    id=1, owner="ann", kind="sweep", name="first", command="x {lr}", varies="lr=1,2", params=("lr",), indices=None,
    count=3, submitted_at=5.0,
)  # fmt: skip
JOBS = [replace(a_job(number), group=JobId(1)) for number in (1, 2, 3)]


def counts(path: Path) -> dict[str, int]:
    with opened(path) as store:
        found = store.reader._connection.execute("SELECT state, count FROM group_counts WHERE count > 0")
        return dict(found.fetchall())


def test_a_group_is_stored_with_its_jobs(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(*JOBS, groups=[GROUP]))
        assert store.reader.groups.find(1) == GROUP
        assert store.reader.groups.find(2) is None
    assert counts(path) == {"queued": 3}


def test_the_counts_follow_the_jobs(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(*JOBS, groups=[GROUP]))
        ended = replace(JOBS[0], status=a_status("failed"))
        held = replace(JOBS[1], status=Held(by="ann", since=1.0))
        commit(store, changed(ended, held))
        commit(store, changed(held))
    assert counts(path) == {"queued": 1, "held": 1, "failed": 1}


def test_a_group_is_removed_with_its_last_job(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(*JOBS, a_job(4), groups=[GROUP]))
        commit(store, new(removed=[JobId(1), JobId(3), JobId(4)]))
        assert store.reader.groups.find(1) == GROUP
    assert counts(path) == {"queued": 1}
    with opened(path) as store:
        commit(store, new(removed=[JobId(2)]))
        assert store.reader.groups.find(1) is None
        (left,) = store.reader._connection.execute("SELECT count(*) FROM group_counts").fetchone()
    assert left == 0


def test_active_groups_are_found_without_a_look_at_ended_ones(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(*JOBS, replace(a_job(4), group=JobId(4)), groups=[GROUP, replace(GROUP, id=4, count=1)]))
        commit(store, changed(*(replace(job, status=a_status("failed")) for job in JOBS)))
        found = {
            active: [group.id for group in store.reader.groups.listed(is_active=active, owner=None, before=9, limit=9)]
            for active in (True, False, None)
        }
        assert found == {True: [4], False: [1], None: [4, 1]}
        plan = store.reader._connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM groups WHERE id IN ({_ACTIVE})")
        assert "USING INDEX group_counts_live" in " ".join(row[3] for row in plan).replace("COVERING ", "")


def test_an_unknown_job_that_may_hold_gpus_keeps_its_group_active(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(*JOBS, groups=[GROUP]))
        ended = [replace(job, status=a_status("failed")) for job in JOBS[:2]]
        commit(store, changed(*ended, replace(JOBS[2], status=a_status("unknown"))))
        groups = store.reader.groups
        assert [group.id for group in groups.listed(is_active=True, owner=None, before=None, limit=9)] == [1]
        assert groups.unknown_live() == {1: 1}
        plan = store.reader._connection.execute(f"EXPLAIN QUERY PLAN {_UNKNOWN}")
        assert "jobs_at_work" in " ".join(row[3] for row in plan)
        commit(store, changed(replace(JOBS[2], status=a_status("unknown-ended"))))
        assert groups.listed(is_active=True, owner=None, before=None, limit=9) == []
        assert groups.unknown_live() == {}
