"""Overdue jobs: only wide ones, after a patience that depends on how long jobs run and wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.forecast.wakeups import next_due
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job, Request
from tarmac.core.policy.order.starvation import is_overdue, patience_s, starved_jobs
from tarmac.core.policy.scheduling_pass import Pass
from tarmac.core.runtimes import Run
from tarmac.core.state import State
from tests.core.support.builders import a_job, a_node, a_spec, a_state
from tests.core.support.effort import tries
from tests.core.support.scene import Scene

GIB = 2**30


@pytest.mark.parametrize(
    ("asked", "wide"),
    [
        ({"gpus": 1}, False),
        ({"gpus": 0}, False),
        ({"gpus": 1, "gpu_models": ("a100",)}, False),
        ({"gpus": 2}, True),
        ({"gpus": 1, "gpu_memory_bytes": GIB}, True),
        ({"gpus": 1, "gpu_share": 0.5}, True),
        ({"gpus": 1, "cpus": 4}, True),
        ({"gpus": 1, "memory_bytes": GIB}, True),
    ],
)
def test_a_job_is_wide_if_the_next_gpu_may_not_be_enough(asked: dict[str, Any], wide: bool) -> None:
    assert Request(**asked).is_wide is wide


def a_state_with(*, runs_s: tuple[float, ...] = (), waits_s: tuple[float, ...] = (), **rules: Any) -> State:
    state = a_state(a_node(gpus=4))
    state.rules = replace(state.rules, **rules)
    for seconds in runs_s:
        state.runtimes.last_runs.add(Run(seconds, has_limit=False))
    state.recent_waits_s.extend(waits_s)
    return state


@pytest.mark.parametrize(
    ("runs_s", "waits_s", "patience"),
    [
        ((), (), 600.0),
        ((), (9000.0,), 600.0),  # nothing has run yet
        ((100.0, 1000.0), (), 600.0),  # half of the longest run is less than starvation_s
        ((100.0, 4000.0, 50.0), (), 2000.0),  # half of the longest recent run
        ((4000.0,), (100.0,), 2000.0),
        ((4000.0,), (2000.0, 4000.0), 9000.0),  # three times as long as others wait
        ((4000.0,), (50_000.0,), 40_000.0),  # but no longer than ten times the longest recent run
    ],
)
def test_patience_is_bounded_by_how_long_jobs_run_and_wait(
    runs_s: tuple[float, ...], waits_s: tuple[float, ...], patience: float
) -> None:
    assert patience_s(a_state_with(runs_s=runs_s, waits_s=waits_s, starvation_s=600.0)) == patience


@pytest.mark.parametrize(
    ("limits", "others", "patience"), [(2, 1, 40_000.0), (1, 1, 2000.0), (1, 2, 2000.0), (1, 0, 40_000.0)]
)
def test_jobs_become_overdue_later_where_most_have_limits(limits: int, others: int, patience: float) -> None:
    state = a_state_with(waits_s=(100.0,), starvation_s=600.0)
    for run in [*[Run(4000.0, has_limit=True)] * limits, *[Run(4000.0, has_limit=False)] * others]:
        state.runtimes.last_runs.add(run)
    assert patience_s(state) == patience


def stuck(state: State, number: int, *, since: float, gpus: int = 2, owner: str = "ann") -> Job:
    job = a_job(number, gpus=gpus, owner=owner)
    state.load([job], next_id=number + 1)
    state.stuck_since[job.id] = since
    return job


def test_a_wide_job_is_overdue_once_others_passed_it_for_that_long() -> None:
    state = a_state_with(starvation_s=600.0)
    job = stuck(state, 1, since=1000.0)
    assert [is_overdue(state, job, now) for now in (1599.0, 1600.0, 9000.0)] == [False, True, True]
    assert not is_overdue(state, a_job(2, gpus=2), 9000.0), "its turn has not come yet"


def test_a_job_for_one_gpu_is_never_overdue() -> None:
    state = a_state_with(starvation_s=0.0)
    job = stuck(state, 1, since=1000.0, gpus=1)
    assert not is_overdue(state, job, 1e9)


@tries(200)
@given(since=st.floats(0.0, 2e9), patience=st.floats(0.0, 1e6))
def test_a_job_is_overdue_at_the_moment_for_which_the_controller_is_woken(since: float, patience: float) -> None:
    """Also where a difference of floats would be a little less than the patience."""
    state = a_state_with(starvation_s=patience)
    job = stuck(state, 1, since=since)
    due = next_due(state, since)
    assert due is None or is_overdue(state, job, due)


def test_the_longest_stuck_of_the_overdue_jobs_goes_first_and_under_fifo_none_does() -> None:
    state = a_state_with(starvation_s=600.0)
    late, early = stuck(state, 1, since=900.0), stuck(state, 2, since=1000.0, owner="bob")
    stuck(state, 3, since=5000.0, owner="cat")
    assert starved_jobs(state, 2000.0) == [late, early]
    state.rules = replace(state.rules, policy="fifo")
    assert starved_jobs(state, 2000.0) == []


def test_an_overdue_job_is_served_only_if_it_is_its_owners_first_and_no_higher_tier_waits() -> None:
    state = a_state_with(starvation_s=600.0)
    stuck(state, 1, since=900.0)
    state.load([a_job(2, position=0)], next_id=3)
    assert starved_jobs(state, 2000.0) == []
    state = a_state_with(starvation_s=600.0)
    first = stuck(state, 1, since=900.0)
    assert starved_jobs(state, 2000.0) == [first]
    urgent = a_job(2, owner="bob")
    urgent.spec = replace(urgent.spec, tier="urgent")
    state.load([urgent], next_id=3)
    assert starved_jobs(state, 2000.0) == []


@pytest.mark.parametrize("policy", ["fifo", "balance", "fairshare"])
def test_a_job_for_one_gpu_never_holds_gpus_back_without_limits(policy: str) -> None:
    scene = Scene(gpus=2, policy=policy, starvation_s=10.0)
    scene.run(a_spec(gpus=2, name="both"))
    scene.submit(a_spec(name="narrow"), a_spec(owner="bob", name="other"))
    scene.pass_s(1000.0)
    assert scene.state.stuck_since == {}
    turn = Pass(scene.state, scene.now)
    assert (list(turn.run()), turn.plans) == ([], [])


def test_waits_are_noted_for_jobs_with_gpus_and_only_the_last_count() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(gpus=0))
    assert list(scene.state.recent_waits_s) == []
    scene.run(a_spec())
    scene.submit(a_spec())
    scene.pass_s(50.0)
    scene.finish(2)
    assert list(scene.state.recent_waits_s) == [0.0, scene.now - scene.jobs[JobId(3)].submitted_at]
    most = scene.state.recent_waits_s.maxlen
    assert most is not None
    scene.state.recent_waits_s.extend([7.0] * most)
    assert set(scene.state.recent_waits_s) == {7.0}


def test_a_wait_begins_again_when_a_job_is_preempted() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(tier="preemptible"))
    scene.submit(a_spec(owner="bob", tier="urgent"))
    scene.pass_s(500.0)
    scene.finish(1, exit_code=None, signal=15, was_signalled=True)
    requeued_at = scene.now
    scene.begin()
    scene.pass_s(30.0)
    scene.finish(2)
    assert scene.state.recent_waits_s[-1] == scene.now - requeued_at


def test_an_overdue_job_that_a_limit_keeps_off_the_free_gpus_holds_nothing_back() -> None:
    """Its request fits, but its owner may not use that much of these GPUs."""
    scene = Scene(gpus=1, starvation_s=10.0)
    node = scene.state.nodes[next(iter(scene.state.nodes))]
    node.gpus = {uuid: replace(gpu, memory_total_bytes=16 * GIB) for uuid, gpu in node.gpus.items()}
    scene.run(a_spec(owner="bob"))
    scene.submit(replace(a_spec(), request=Request(gpus=1, gpu_memory_bytes=12 * GIB)))
    scene.pass_s(100.0)
    scene.set_rules(max_gpus_per_user=replace(scene.state.rules.max_gpus_per_user, of=(("ann", 0.5),)))
    scene.finish(1)
    assert scene.starts() == []
    scene.submit(a_spec(owner="bob", name="later"))
    assert [job for job, _ in scene.starts()] == [3]
