"""The queue of waiting jobs: classes, heads and order."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.model.job import Job
from tarmac.core.queue.queue import MAX_FIRST, MOST_STALE, Queue
from tests.core.support.builders import a_job


def a_queue(*jobs: Job) -> Queue:
    queue = Queue()
    queue.add_many(jobs)
    return queue


def heads(queue: Queue) -> list[int]:
    return [klass.head_job() for klass in queue.classes.values()]


def test_lower_priority_goes_first_then_position() -> None:
    jobs = [a_job(1, priority=10), a_job(2, priority=5), a_job(3, priority=5, position=9), a_job(4, position=0)]
    assert list(a_queue(*jobs).in_order()) == [2, 3, 4, 1]


def test_the_head_is_the_best_job_regardless_of_arrival() -> None:
    jobs = [a_job(1, priority=10), a_job(2, priority=5), a_job(3, priority=20)]
    for arrival in permutations(jobs):
        one_by_one = Queue()
        for job in arrival:
            one_by_one.add_many([job])
        assert heads(one_by_one) == heads(a_queue(*arrival)) == [2]


def test_one_owner_with_one_request_is_one_class() -> None:
    queue = a_queue(a_job(1), a_job(2), a_job(3, gpus=2), a_job(4, owner="bob"))
    assert [(klass.owner, klass.request.gpus, len(klass.waiting)) for klass in queue.classes.values()] == [
        ("ann", 1, 2),
        ("ann", 2, 1),
        ("bob", 1, 1),
    ]
    assert len(queue) == 4


def test_a_job_that_left_is_never_head_again() -> None:
    first, second, third = a_job(1), a_job(2), a_job(3)
    queue = a_queue(first, second, third)
    queue.remove(first)
    assert heads(queue) == [2]
    queue.remove(second)
    assert heads(queue) == [3]
    assert first.id not in queue.in_order()
    assert third.id in queue.in_order()


def test_an_empty_class_is_removed_and_may_return() -> None:
    job = a_job(1)
    queue = a_queue(job)
    queue.remove(job)
    assert not queue.classes
    assert job.id not in queue.in_order()
    queue.add_many([job])
    assert heads(queue) == [1]


def test_a_job_that_returns_with_another_rank_is_ordered_by_it() -> None:
    first, second = a_job(1), a_job(2)
    queue = a_queue(first, second)
    queue.remove(first)
    first.position = 7
    queue.add_many([first])
    assert heads(queue) == [2]
    queue.remove(second)
    assert heads(queue) == [1]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from("ab"), st.booleans()), max_size=30))
def test_the_queue_equals_a_sorted_list(asked: list[tuple[int, int, str, bool]]) -> None:
    queue, listed = Queue(), list[Job]()
    for number, (gpus, priority, owner, leaves) in enumerate(asked, 1):
        if leaves and listed:
            queue.remove(listed.pop(number % len(listed)))
        job = a_job(number, gpus=gpus, priority=priority, owner=owner)
        queue.add_many([job])
        listed.append(job)
        best: dict[tuple[str, int], Job] = {}
        for one in sorted(listed, key=lambda job: job.rank):
            best.setdefault((one.spec.owner, one.spec.request.gpus), one)
        assert sorted(heads(queue)) == sorted(job.id for job in best.values())
    assert list(queue.in_order()) == [job.id for job in sorted(listed, key=lambda job: job.rank)]


def test_one_new_job_is_pushed_and_many_rebuild_the_heap() -> None:
    queue = a_queue(*[a_job(number) for number in range(1, 1001)])
    queue.add_many([a_job(2000, priority=5)])
    assert heads(queue) == [2000]
    queue.add_many([a_job(number, priority=1) for number in range(3000, 3500)])
    assert heads(queue) == [3000]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["add", "add", "add", "leave", "return"])), max_size=40))
def test_the_first_jobs_of_a_class_are_those_that_a_sorted_list_begins_with(asked: list[tuple[int, str]]) -> None:
    """Also where jobs left, and where one left and came back at the same place."""
    queue, waiting = a_queue(a_job(999, priority=9)), list[Job]()
    for number, (priority, word) in enumerate(asked, 1):
        if word == "add" or not waiting:
            waiting.append(a_job(number, priority=priority))
            queue.add_many(waiting[-1:])
        else:
            job = waiting[number % len(waiting)]
            queue.remove(job)
            if word == "return":
                queue.add_many([job])
            else:
                waiting.remove(job)
    (klass,) = queue.classes.values()
    in_order = [*(job.id for job in sorted(waiting, key=lambda job: (job.rank, job.id))), 999]
    assert klass.first_jobs() == in_order[:MAX_FIRST]
    assert klass.first_jobs()[0] == klass.head_job()
    assert [klass.turn_of(job).job for job in klass.first_jobs()] == in_order[:MAX_FIRST]


def test_only_so_many_first_jobs_are_looked_at_and_they_change_with_the_class() -> None:
    jobs = [a_job(number) for number in range(1, MAX_FIRST + 10)]
    queue = a_queue(*jobs)
    (klass,) = queue.classes.values()
    assert klass.first_jobs() == [job.id for job in jobs[:MAX_FIRST]]
    queue.remove(jobs[3])
    assert klass.first_jobs() == [job.id for job in [*jobs[:3], *jobs[4 : MAX_FIRST + 1]]]
    queue.add_many([a_job(500, priority=1)])
    assert klass.first_jobs()[:2] == [500, 1]


def test_jobs_that_left_do_not_fill_the_heap() -> None:
    jobs = [a_job(number) for number in range(1, 2001)]
    queue = a_queue(*jobs)
    for job in jobs[10:]:
        queue.remove(job)
    (klass,) = queue.classes.values()
    assert len(klass.heap) <= 2 * 10 + MOST_STALE
    assert klass.first_jobs() == list(range(1, 11))
