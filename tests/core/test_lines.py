"""The lines of the queue: places of jobs, and the jobs around a place."""

from dataclasses import replace

import pytest

from tarmac.core import lines as module
from tarmac.core.lines import line_key, lines, others_in_line, place_of
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After, Job
from tarmac.core.state import State
from tests.core.support.builders import a_job, a_state


def a_busy_queue() -> State:
    """Ann's line is 5, 2, 4, 1, 3, 6; one of them waits for another job, and one was moved."""
    moved, dependent, urgent = a_job(4, gpus=2), a_job(6), a_job(5, priority=1)
    moved.position = 0.5
    first = a_job(2, priority=9)
    dependent.spec = replace(dependent.spec, after=(After(job=JobId(1)),))
    preemptible = a_job(8)
    preemptible.spec = replace(preemptible.spec, tier="preemptible")
    jobs = (a_job(1), first, a_job(3), moved, urgent, dependent, a_job(7, owner="bob"), preemptible)
    return a_state(jobs=jobs)


ANNS = [5, 2, 4, 1, 3, 6]


def test_a_line_has_the_jobs_of_an_owner_and_tier_by_position() -> None:
    state = a_busy_queue()
    assert sorted(lines(state).values()) == [ANNS, [7], [8]]
    bob = line_key(state.jobs[JobId(7)])
    assert lines(state, {bob}) == {bob: [7]}


@pytest.mark.parametrize("most_walked", [0, 1000])
def test_the_others_in_a_line(monkeypatch: pytest.MonkeyPatch, most_walked: int) -> None:
    monkeypatch.setattr(module, "MOST_WALKED", most_walked)
    state = a_busy_queue()
    for number in ANNS:
        job, others = state.jobs[JobId(number)], [other for other in ANNS if other != number]
        assert others_in_line(state, job) == others
        for most in range(8):
            assert others_in_line(state, job, most) == others[:most]


def test_a_job_that_is_not_in_the_queue_yet_has_others_around_it() -> None:
    state, job = a_busy_queue(), a_job(9)
    assert others_in_line(state, job, 2) == ANNS[:2]
    assert others_in_line(state, a_job(9, owner="new"), 2) == []


def test_places_count_from_one() -> None:
    state = a_busy_queue()
    jobs: list[Job] = [state.jobs[JobId(number)] for number in ANNS]
    assert [place_of(state, job) for job in jobs] == [1, 2, 3, 4, 5, 6]
