"""Attempts and suspended owners on disk."""

from dataclasses import replace
from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.core.model.attempt import attempt_of
from tarmac.core.model.ids import JobId
from tarmac.core.model.note import note
from tarmac.core.model.queue import Suspension
from tarmac.core.model.status import Failed
from tarmac.store.accounts import Usage
from tarmac.store.batch import Batch
from tests.core.support.builders import a_booking, a_job, a_status
from tests.store.kept import commit, new, opened

SUSPENSION = Suspension(owner="ann", reason=note("suspended.failures", owner="ann", count=3), since=150.0)


def test_attempts_come_back_with_what_they_used_and_go_with_their_job(tmp_path: Path) -> None:
    booking, status = a_booking(0, 1), a_status("failed")
    assert isinstance(status, Failed)
    failed = replace(status, booking=booking, error_line="boom", message=note("failed.full_disk"))
    first = attempt_of(JobId(1), 1, booking, failed, "failed", 130.0)
    second = attempt_of(JobId(1), 2, booking, failed, "preempted", 131.0)
    other = attempt_of(JobId(2), 1, booking, failed, "failed", 132.0)
    usage = {(JobId(1), 1): Usage(1, 5, 50.0, 7.5)}
    with opened(tmp_path / "db") as store:
        commit(store, new(a_job(1), a_job(2)))
        commit(store, Batch(changes=Changes(attempts=[first]), usage_of_attempts=usage))
        commit(store, Batch(changes=Changes(attempts=[second, other])))
    with opened(tmp_path / "db") as store:
        (one, two) = store.reader.attempts(1)
        assert (one.attempt, two.attempt) == (first, second)
        assert (one.peak_gpu_memory_bytes, one.utilization, one.energy_j) == (5, 50.0, 7.5)
        assert two.peak_gpu_memory_bytes is None
        commit(store, Batch(changes=Changes(), removed=[JobId(1)]))
        assert store.reader.attempts(1) == []
        assert len(store.reader.attempts(2)) == 1


def test_a_suspended_owner_is_loaded_with_the_state(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        commit(store, new(a_job(1), a_job(2, owner="bob")))
        commit(store, Batch(changes=Changes(suspended={"ann": SUSPENSION})))
    with opened(tmp_path / "db") as store:
        state = store.load(200.0)
        assert (state.suspended, set(state.blocked)) == ({"ann": SUSPENSION}, {1})
        commit(store, Batch(changes=Changes(suspended={"ann": None})))
    with opened(tmp_path / "db") as store:
        assert store.load(200.0).suspended == {}
