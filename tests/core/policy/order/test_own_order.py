"""Which of an owner's jobs goes first: `order = expected`, with numbers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.events import JobMoved, JobsHeld, JobsReleased, QueuePaused, QueueResumed, QueueStopped
from tarmac.core.forecast.queue_forecast import line_up
from tarmac.core.invariants.invariants import violations
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import JobSpec
from tarmac.core.policy.order import own_order
from tarmac.core.policy.order.own_order import LONGEST_WAIT_S, score, sorted_in_own_order
from tarmac.core.policy.order.starvation import starved_jobs
from tarmac.core.policy.scheduling_pass import Pass
from tarmac.core.queue.queue import MOST_MOVED
from tarmac.core.state import State
from tests.core.support.builders import a_spec
from tests.core.support.effort import tries
from tests.core.support.loads import specs, whole
from tests.core.support.scene import Scene

HOUR_S = 3600.0


def long(hours: float, **more: Any) -> JobSpec:
    """A job with a time limit of this many hours."""
    return a_spec(time_limit_s=hours * HOUR_S, **more)


def waiting(*specs: JobSpec, **rules: Any) -> Scene:
    """Jobs that wait in a paused queue on four idle GPUs."""
    scene = Scene(gpus=4, **{"order": "expected", **rules})
    scene.happen(QueuePaused(by="root"))
    for spec in specs:
        scene.submit(spec)
    return scene


def line(scene: Scene) -> list[int]:
    return [int(job) for job in line_up(scene.state, scene.now)]


def started(scene: Scene) -> list[int]:
    """Jobs in the order in which they start."""
    scene.happen(QueueResumed(by="root"))
    return [job for job, _ in scene.starts()]


def move(scene: Scene, job: int, place: int) -> None:
    scene.happen(JobMoved(job=JobId(job), place=place, by="ann"))


@pytest.mark.parametrize(
    ("wait_s", "expected_s", "gpus", "points"),
    [
        (100.0, 100.0, 1, 1.0),
        (200.0, 100.0, 1, 8.0),
        (200.0, 100.0, 4, 32.0),
        (200.0, 100.0, 0, 8.0),  # without GPUs: as with one
        (0.0, 60.0, 1, 1.0),  # a short wait counts as a minute
        (-5.0, 120.0, 8, 1.0),
        (1000.0, 0.0, 1, 1e9),
    ],
)
def test_the_score_of_a_job(wait_s: float, expected_s: float, gpus: int, points: float) -> None:
    assert score(wait_s, expected_s, gpus) == pytest.approx(points)


@pytest.mark.parametrize("policy", ["fifo", "balance", "fairshare"])
def test_of_jobs_that_wait_equally_long_the_shortest_goes_first(policy: str) -> None:
    scene = waiting(long(9), long(1), long(3), policy=policy)
    assert line(scene) == [2, 3, 1]
    assert started(scene) == [2, 3, 1]


def test_by_default_jobs_go_in_the_order_of_their_submits() -> None:
    scene = waiting(long(9), long(1), long(3), order="submitted")
    assert line(scene) == [1, 2, 3]
    assert started(scene) == [1, 2, 3]


def test_a_job_that_waited_longer_for_its_length_goes_before_a_shorter_one() -> None:
    """After 10 h and 1 h: 10/9 against 1/1, then 10/9 against 1/0.5."""
    scene = waiting(long(9))
    scene.now += 9 * HOUR_S
    scene.submit(long(1), long(0.5))
    scene.pass_s(HOUR_S)
    assert line(scene) == [3, 1, 2]
    assert started(scene) == [3, 1, 2]


def test_a_wider_job_goes_first_if_the_rest_is_equal() -> None:
    scene = waiting(long(1), long(1, gpus=2))
    assert started(scene) == [2, 1]


def ran(**seconds: float) -> Scene:
    """One GPU, on which a job of each name ran for so long; then the queue was paused."""
    scene = Scene(gpus=1, order="expected")
    for name, run_s in seconds.items():
        (job,) = scene.run(a_spec(name=name))
        scene.now += run_s
        scene.finish(job)
    scene.happen(QueuePaused(by="root"))
    return scene


def test_jobs_with_equal_requests_are_ordered_by_their_namesakes() -> None:
    scene = ran(slow=5000.0, fast=20.0)
    scene.submit(*(a_spec(name=name) for name in ("slow", "slow", "fast", "new", "fast")))
    assert line(scene) == [5, 7, 6, 3, 4], "a new one is expected to take an hour"
    assert [line(scene)[0]] == started(scene)


def test_jobs_that_were_submitted_before_anything_was_known_are_ordered_once_it_is() -> None:
    scene = Scene(gpus=1, order="expected")
    slow, fast = scene.submit(a_spec(name="slow"), a_spec(name="fast"))
    scene.begin(slow)
    scene.submit(*(a_spec(name=name) for name in ("slow", "fast") * 3))
    scene.now += 5000.0
    scene.finish(slow)
    assert [job for job, _ in scene.starts()] == [fast], "the others take an hour, for all that is known"
    scene.begin(fast)
    scene.finish(fast)
    assert [job for job, _ in scene.starts()] == [4]
    assert line(scene) == [6, 8, 3, 5, 7]


def test_a_restart_keeps_the_order() -> None:
    scene = ran(slow=5000.0, fast=20.0)
    scene.submit(*(a_spec(name=name) for name in ("slow", "fast", "slow", "fast")))
    fresh = State()
    fresh.load(list(scene.state.jobs.values()), next_id=scene.state.next_id, now=scene.now)
    fresh.runtimes = scene.state.runtimes
    fresh.set_rules(scene.state.rules)
    assert line_up(fresh, scene.now) == line_up(scene.state, scene.now) == [4, 6, 3, 5]
    assert violations(fresh) == []


def test_an_end_moves_only_a_few_jobs_to_other_classes() -> None:
    """Jobs of one name that become known one end after the other; the order is right all the time."""
    scene = Scene(gpus=1, order="expected")
    scene.run(a_spec(name="sweep"))
    scene.submit(*[a_spec(name="sweep")] * 100)
    sizes = []
    for job in range(1, 9):
        scene.now += 45.0
        scene.finish(job)
        assert [started for started, _ in scene.starts()] == [job + 1]
        scene.begin(job + 1)
        sizes.append(sorted(len(klass.waiting) for klass in scene.state.queue.classes.values()))
    assert sizes[0] == [MOST_MOVED - 1, 100 - MOST_MOVED]
    assert sizes[-1] == [92]


def test_priority_and_tier_win() -> None:
    scene = waiting(long(1), long(9, priority=5), long(99, tier="urgent"), long(0.1, tier="preemptible"))
    assert line(scene) == [3, 2, 1, 4]
    assert started(scene) == [3, 2, 1, 4]


def test_a_moved_job_keeps_its_place_and_the_others_are_ordered_between_moved_ones() -> None:
    scene = waiting(*[long(hours) for hours in (9, 1, 8, 2, 7, 3)])
    move(scene, 5, 3)  # 1 2 | 5 | 3 4 6
    assert line(scene) == [2, 1, 5, 4, 6, 3]
    move(scene, 6, 1)
    assert line(scene) == [6, 2, 1, 5, 4, 3]


@pytest.mark.parametrize(("job", "place", "order"), [(1, 1, [1, 3, 2]), (2, 2, [1, 2, 3]), (3, 3, [2, 1, 3])])
def test_a_move_counts_even_if_the_job_was_submitted_at_that_place(job: int, place: int, order: list[int]) -> None:
    scene = waiting(long(9), long(2), long(1))
    assert line(scene) == [3, 2, 1]
    move(scene, job, place)
    assert line(scene) == order
    assert started(scene) == order


def test_a_moved_job_counts_in_its_own_priority_only() -> None:
    scene = waiting(long(9), long(1), long(8, priority=5), long(2, priority=5))
    move(scene, 3, 1)
    assert line(scene) == [3, 4, 2, 1]


def test_once_the_moved_job_is_held_the_others_are_ordered_without_it() -> None:
    scene = waiting(long(9), long(5), long(1))
    move(scene, 2, 2)
    assert line(scene) == [1, 2, 3]
    scene.happen(JobsHeld(jobs=(JobId(2),), by="ann"))
    assert line(scene) == [3, 1]
    scene.happen(JobsReleased(jobs=(JobId(2),), by="ann"))
    assert line(scene) == [1, 2, 3]


def test_moves_to_one_place_do_not_turn_other_jobs_into_moved_ones() -> None:
    """Positions that get too close are spread, but only those of moved jobs."""
    scene = waiting(*[long(hours) for hours in (9, 8, 7, 6)])
    for step in range(120):
        move(scene, 3 + step % 2, 2)
    moved = [int(number) for number, job in scene.jobs.items() if job.is_moved]
    assert moved == [3, 4]
    assert line(scene) == [1, 4, 3, 2]


def test_jobs_of_a_stopped_queue_go_first() -> None:
    scene = Scene(gpus=1, order="expected")
    scene.run(long(50))
    scene.happen(QueueStopped(by="root"))
    scene.finish(1, exit_code=None, signal=15)
    scene.submit(long(1))
    assert line(scene) == [1, 2]


def test_a_job_that_waited_for_long_goes_first() -> None:
    scene = waiting(long(1000), long(900))
    scene.now += LONGEST_WAIT_S
    scene.submit(long(0.01))
    assert line(scene) == [1, 2, 3], "two that waited too long, in the order of their submits"
    assert started(scene) == [1, 2, 3]


def test_the_wait_counts_from_when_the_job_may_start() -> None:
    scene = Scene(gpus=0, order="expected")
    scene.submit(long(2))
    scene.submit_as(long(1), entry="held")
    scene.pass_s(10 * HOUR_S)
    scene.happen(JobsReleased(jobs=(JobId(2),), by="ann"))
    scene.pass_s(HOUR_S)
    assert line(scene) == [1, 2], "11/2 against 1/1"


def test_under_fifo_an_owner_has_the_place_of_their_earliest_job() -> None:
    scene = waiting(long(9), long(5, owner="bob"), long(1), policy="fifo")
    # ann is first with job 1, so 3 goes; she is still first with job 1, so it goes
    assert line(scene) == [3, 1, 2]
    assert started(scene) == [3, 1, 2]


def test_under_fifo_the_earliest_job_may_leave_first() -> None:
    scene = waiting(long(1), long(5, owner="bob"), long(9), policy="fifo")
    assert line(scene) == [1, 2, 3]
    assert started(scene) == [1, 2, 3]


def test_owners_take_turns_as_under_any_order() -> None:
    waiting_specs = [long(9), long(1), long(9, owner="bob"), long(1, owner="bob")]
    expected = waiting(*waiting_specs)
    typed = waiting(*waiting_specs, order="submitted")
    owners = [[scene.jobs[JobId(job)].spec.owner for job in started(scene)] for scene in (expected, typed)]
    assert owners == [["ann", "bob"] * 2] * 2


def test_the_order_can_change_while_jobs_wait() -> None:
    scene = waiting(long(9), long(1), order="submitted")
    assert line(scene) == [1, 2]
    scene.set_rules(order="expected")
    assert line(scene) == [2, 1]
    scene.set_rules(order="submitted")
    assert line(scene) == [1, 2]


def test_between_two_passes_the_order_stays() -> None:
    """Those who ask later see the order that the last pass used."""
    scene = waiting(long(9), long(1))
    before = line(scene)
    assert [int(job) for job in line_up(scene.state, scene.now + 99 * LONGEST_WAIT_S)] == before


any_jobs = st.lists(
    st.tuples(specs(whole, time_limit_s=st.sampled_from([None, 60.0, 7200.0, 90000.0])), st.integers(0, 100_000)),
    min_size=1,
    max_size=12,
)
any_moves = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), max_size=4)


@tries(150)
@given(jobs=any_jobs, moves=any_moves, policy=st.sampled_from(["fifo", "balance"]))
def test_jobs_start_in_the_order_that_is_shown(
    jobs: list[tuple[JobSpec, int]], moves: list[tuple[int, int]], policy: str
) -> None:
    scene = Scene(gpus=0, order="expected", policy=policy, starvation_s=1e18)
    for spec, seconds in jobs:
        scene.submit(spec)
        scene.now += seconds
    for job, place in moves:
        move(scene, job, place)
    scene.pass_s(1.0)
    shown = line(scene)
    scene.now -= 1.0  # at the moment of the last pass
    scene.see_gpus(64)
    assert [job for job, _ in scene.starts()] == shown


@tries(150)
@given(jobs=any_jobs, moves=any_moves)
def test_places_respect_tiers_priorities_and_moves(
    jobs: list[tuple[JobSpec, int]], moves: list[tuple[int, int]]
) -> None:
    """Of two jobs, one of which was moved, the one with the first position goes first."""
    scene = Scene(gpus=0, order="expected")
    for spec, seconds in jobs:
        scene.submit(spec)
        scene.now += seconds
    for job, place in moves:
        move(scene, job, place)
    for owner in {spec.owner for spec, _ in jobs}:
        own = [job for job in scene.state.jobs.values() if job.spec.owner == owner]
        ordered = sorted_in_own_order(scene.state, own)
        assert sorted(job.id for job in ordered) == [job.id for job in own]
        for place, before in enumerate(ordered):
            for behind in ordered[place + 1 :]:
                levels = [(own_order.turn_of(job).tier, job.spec.priority) for job in (before, behind)]
                assert levels[0] <= levels[1]
                if levels[0] == levels[1] and (before.is_moved or behind.is_moved):
                    assert (before.position, before.id) < (behind.position, behind.id)


@tries(100)
@given(
    first=st.lists(st.floats(1.0, 1e6), min_size=1, max_size=6),
    later=st.lists(st.floats(1.0, 1e6), min_size=1, max_size=6),
    policy=st.sampled_from(["fifo", "balance", "fairshare"]),
    order=st.sampled_from(["submitted", "expected"]),
)
def test_no_job_starves(first: list[float], later: list[float], policy: str, order: str) -> None:
    """However short the jobs are that keep coming, each job starts soon after it has waited for the longest wait."""
    scene = Scene(gpus=1, policy=policy, order=order)
    scene.run(a_spec(time_limit_s=1e6))
    early = scene.submit(*(a_spec(time_limit_s=limit) for limit in first))
    running, rounds = 1, 0
    while any(scene.state_of(job) == "queued" for job in early):
        assert rounds < 60 + len(first), "no more jobs go first than end until then"
        rounds += 1
        scene.submit(*(a_spec(time_limit_s=limit) for limit in later))
        scene.now += LONGEST_WAIT_S / 60
        scene.finish(running)
        ((running, _),) = scene.starts()


def test_a_pass_leaves_nothing_to_do_if_a_start_changes_whose_turn_it_is() -> None:
    """Under fifo, ann has the place of job 2. It starts beside the plan for her wide job 4, and bob is first then."""
    scene = Scene(gpus=3, policy="fifo", order="expected")
    scene.run(long(1, gpus=2))
    scene.happen(QueuePaused(by="root"))
    scene.submit(long(90))
    scene.submit(long(20, gpus=3, owner="bob"))
    scene.submit(long(0.5, gpus=2))
    scene.happen(QueueResumed(by="root"))
    assert scene.state_of(2) == "starting"
    assert next(Pass(scene.state, scene.now).run(), None) is None


def test_a_wide_job_is_overdue_if_it_is_first_in_its_owners_order() -> None:
    scene = Scene(gpus=2, order="expected", starvation_s=100.0)
    scene.run(long(200, owner="bob"))
    scene.submit(long(1000, gpus=2), long(1, gpus=2))
    scene.pass_s(200.0)
    assert [job.id for job in starved_jobs(scene.state, scene.now)] == [3]
    scene.set_rules(order="submitted")
    scene.pass_s(200.0)
    assert [job.id for job in starved_jobs(scene.state, scene.now)] == [2]
