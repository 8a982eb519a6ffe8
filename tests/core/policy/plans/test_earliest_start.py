"""Where a request could start first: the cached orders of nodes give what a walk over all nodes finds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.fit.fit_cache import FitCache
from tarmac.core.model.ids import NodeName
from tarmac.core.model.job import Job, Request
from tarmac.core.model.node import Node
from tarmac.core.model.plan import EarliestStart
from tarmac.core.model.rules import Rules
from tarmac.core.policy.plans.earliest_start import earliest_starts, soonest_start
from tarmac.core.state import State
from tests.core.support.builders import a_booking, a_job, a_node, a_state, a_status
from tests.core.support.effort import tries
from tests.core.support.loads import machines, requests, rules, specs
from tests.core.support.play import Play, Step, steps

dated = specs(time_limit_s=st.sampled_from([5.0, 20.0, 60.0]))  # without guesses, which are refreshed late


def walked(state: State, job: Job, now: float, excluded: set[NodeName]) -> tuple[NodeName, EarliestStart] | None:
    """The same answer without a cache: look at every node."""
    starts = earliest_starts(replace(state, fit_cache=FitCache()), job, now)
    known = [(start.at, name) for name, start in starts.items() if start.at is not None and name not in excluded]
    at = min((at for at, _ in known), default=None)
    return next(((name, starts[name]) for when, name in known if when == at), None)


@tries(150)
@given(
    nodes=machines(most=5),
    rules=rules,
    steps=steps(dated),
    asked=st.lists(st.tuples(requests, st.sampled_from(["ann", "bob"])), min_size=1, max_size=4),
    excluded=st.sets(st.sampled_from([NodeName("n0"), NodeName("n1"), NodeName("n2")]), max_size=2),
)
def test_the_soonest_start_is_what_a_walk_over_all_nodes_finds(
    nodes: list[Node], rules: Rules, steps: list[Step], asked: list[tuple[Request, str]], excluded: set[NodeName]
) -> None:
    play = Play(nodes, rules)
    jobs = [a_job(1000 + number, owner=owner) for number, (_, owner) in enumerate(asked)]
    for job, (request, _) in zip(jobs, asked, strict=True):
        job.spec = replace(job.spec, request=request)
    for step in steps:
        play.take(step)
        for job in jobs:
            assert soonest_start(play.state, job, play.now, excluded) == walked(play.state, job, play.now, excluded)


def test_equal_starts_go_to_the_node_that_joined_first() -> None:
    state = a_state(a_node(gpus=2, name="b"), a_node(gpus=2, name="a"))
    found = soonest_start(state, a_job(1, gpus=2), 0.0)
    assert found is not None
    assert found[0] == "b"
    found = soonest_start(state, a_job(1, gpus=2), 0.0, {NodeName("b")})
    assert found is not None
    assert found[0] == "a"


def test_a_node_that_joins_later_is_considered() -> None:
    running = a_job(1, gpus=2, status=a_status("running", a_booking(0, 1)))
    running.spec = replace(running.spec, time_limit_s=100.0)
    state = a_state(a_node(gpus=2), jobs=(running,))
    assert soonest_start(state, a_job(9, gpus=2), 0.0) is not None
    state.nodes[NodeName("late")] = a_node(gpus=2, name="late")
    found = soonest_start(state, a_job(9, gpus=2), 0.0)
    assert found is not None
    assert (found[0], found[1].at) == ("late", 0.0)


def test_an_expectation_that_ran_out_is_dropped_without_an_event_on_its_node() -> None:
    running = a_job(1, gpus=2, status=a_status("running", a_booking(0, 1)))
    state = a_state(a_node(gpus=2), jobs=(running,))
    state.runtimes.learn(replace_status(running))
    before = soonest_start(state, a_job(9, gpus=2), 10.0)
    assert before is not None
    assert before[1].at is not None
    after = soonest_start(state, a_job(9, gpus=2), before[1].at + 1.0)
    assert after is None or after[1].at != before[1].at


def replace_status(job: Job) -> Job:
    """The same job, which succeeded."""
    return replace(job, status=a_status("succeeded"))
