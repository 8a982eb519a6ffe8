"""The last moved job before another one, among those of the same owner, tier and priority."""

from __future__ import annotations

from tarmac.core.model.job import Job
from tarmac.core.queue.moved_jobs import FRONT, MovedJobs
from tests.core.support.builders import a_job


def moved(number: int, position: float, **more: int | str) -> Job:
    job = a_job(number, **more)  # type: ignore[arg-type]
    job.position = position
    return job


def test_a_job_is_behind_the_last_moved_job_before_it() -> None:
    index = MovedJobs()
    index.add_many([moved(9, 2.5), moved(8, 4.5), a_job(3)])
    assert [index.last_up_to(a_job(number)) for number in (2, 3, 4, 5)] == [FRONT, (2.5, 9), (2.5, 9), (4.5, 8)]
    assert index.last_up_to(moved(9, 2.5)) == (2.5, 9), "a moved job is its own"


def test_other_owners_and_priorities_do_not_count() -> None:
    index = MovedJobs()
    index.add_many([moved(8, 0.5, owner="bob"), moved(9, 0.5, priority=3)])
    assert index.last_up_to(a_job(5)) == FRONT
    assert index.last_up_to(a_job(5, priority=3)) == (0.5, 9)


def test_at_equal_positions_the_id_decides_as_in_the_queue() -> None:
    index = MovedJobs()
    index.add_many([moved(1, 2.0), moved(7, 2.0)])
    assert index.last_up_to(a_job(2)) == (2.0, 1)


def test_removed_jobs_leave_nothing_behind() -> None:
    index = MovedJobs()
    jobs = [moved(9, 2.5), moved(8, 4.5), a_job(3)]
    index.add_many(jobs)
    for job in jobs:
        index.remove(job)
    assert index.spots == {}
