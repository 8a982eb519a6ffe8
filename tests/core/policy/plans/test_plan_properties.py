"""Properties of planned starts: nothing decided later delays one, and what they promise rests on limits alone."""

from __future__ import annotations

from copy import deepcopy
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.explain.explainer import Explainer
from tarmac.core.explain.reasons import KeptFor
from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.forecast.queue_forecast import estimates, line_up, position_of
from tarmac.core.forecast.wakeups import next_due
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job, JobSpec
from tarmac.core.model.node import Node
from tarmac.core.model.plan import VAGUE, PlannedStart
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Queued, Stopping
from tarmac.core.policy.plans.exclusions import would_delay
from tarmac.core.policy.scheduling_pass import Pass, Start
from tarmac.core.state import State
from tests.core.support.brute_force import gpus_that_do
from tests.core.support.crowds import (
    PastRun,
    crowd_rules,
    crowd_steps,
    learn,
    narrow,
    partly_filled,
    past_runs,
    plain_nodes,
    wide,
)
from tests.core.support.effort import tries
from tests.core.support.explaining import explain
from tests.core.support.loads import machines, rules, specs, with_gpus
from tests.core.support.passes import decided_one_by_one, planned_anew
from tests.core.support.play import Play, Step, steps
from tests.core.test_properties import put_in_line, would_start

mixed = specs(with_gpus, name=st.sampled_from(["a", "b", "c", "d"]))
plays = st.one_of(
    st.tuples(machines(most=4), rules, past_runs, steps(mixed)),
    st.tuples(plain_nodes(), crowd_rules, past_runs, crowd_steps()),
    st.tuples(plain_nodes(), crowd_rules, past_runs, crowd_steps()),
)
before = st.one_of(
    st.tuples(machines(most=4), rules, past_runs, steps(mixed, most=12)),
    st.tuples(plain_nodes(), crowd_rules, past_runs, partly_filled()),
    st.tuples(plain_nodes(), crowd_rules, past_runs, partly_filled()),
)
Given: TypeAlias = tuple[list[Node], Rules, list[PastRun], list[Step]]


def a_play(given: Given) -> tuple[Play, list[Step]]:
    nodes, rules, past, steps = given
    play = Play(nodes, rules)
    learn(play.state, past)
    return play, steps


@tries(150)
@given(given=before, first=st.lists(wide, min_size=1, max_size=4), new=st.lists(st.one_of(narrow, mixed), max_size=8))
def test_no_decision_of_a_pass_delays_a_plan(given: Given, first: list[JobSpec], new: list[JobSpec]) -> None:
    play, steps = a_play(given)
    for step in steps:
        play.take(step)
    put_in_line(play.state, [*first, *new], play.now)
    turn = Pass(play.state, play.now)
    seen: list[PlannedStart] = []
    is_rough = False
    for decision in decided_one_by_one(play.state, play.now, turn):
        is_rough = is_rough or (isinstance(decision, Start) and rests_on_owner(play.state, decision))
        assert turn.plans[: len(seen)] == seen, "a further plan leaves the earlier ones as they are"
        seen = list(turn.plans)
        for old, anew in zip(seen, planned_anew(play.state, play.now, seen), strict=True):
            assert anew is not None
            if old.at is not None and (old.is_promise or not is_rough):
                assert anew.at is not None
                assert anew.at <= old.at


def rests_on_owner(state: State, start: Start) -> bool:
    """Such a job passes a plan that is not firm by what is expected, and from then on counts as twice as long."""
    return state.runtimes.expected[start.job.id].rests_on == "owner"


@tries(80)
@given(given=plays)
def test_a_promise_rests_on_limits_and_stops_alone(given: Given) -> None:
    play, steps = a_play(given)
    for step in steps:
        play.take(step)
        for planned in plans_of(play.state, play.now):
            if planned.is_promise:
                assert fits_once_gone(play.state, planned, certain_to_end(play.state, planned, play.now))


@tries(60)
@given(given=plays)
def test_people_are_told_a_time_only_if_it_rests_on_known_ends(given: Given) -> None:
    play, steps = a_play(given)
    for step in steps:
        play.take(step)
        why = Explainer(play.state, play.now)
        told = {
            reason.job
            for job in play.waiting
            for reason in why.reasons(job)
            if isinstance(reason, KeptFor) and reason.at is not None
        }
        for planned in plans_of(play.state, play.now):
            if planned.rests_on & VAGUE:
                assert planned.shown_at is None
                assert planned.job not in told
            elif planned.shown_at is not None:
                assert fits_once_gone(play.state, planned, known_to_end(play.state, planned, play.now))


def plans_of(state: State, now: float) -> list[PlannedStart]:
    turn = Pass(state, now)
    next(turn.run(), None)
    return turn.plans


def certain_to_end(state: State, planned: PlannedStart, now: float) -> list[JobId]:
    """The jobs on the node that end by the planned time because of a limit, or because they are stopping."""
    assert planned.at is not None
    found = []
    for number in state.nodes[planned.node].host:
        job = state.jobs[number]
        end = state.runtimes.end_of(job, now)
        is_certain = isinstance(job.status, Stopping) or job.spec.time_limit_s is not None
        if is_certain and end is not None and end.at <= planned.at:
            found.append(number)
    return found


def known_to_end(state: State, planned: PlannedStart, now: float) -> list[JobId]:
    """Also those that end by the planned time as their namesakes had when they started, or by their own progress."""
    assert planned.at is not None
    ends = {job: state.runtimes.expected_end_of(state.jobs[job], now) for job in state.nodes[planned.node].host}
    return [job for job, end in ends.items() if end is not None and end.rests_on not in VAGUE and end.at <= planned.at]


def fits_once_gone(state: State, planned: PlannedStart, gone: list[JobId]) -> bool:
    """Does the job fit on its planned GPUs without these jobs?"""
    node = state.nodes[planned.node]
    found = gpus_that_do(node, state.jobs[planned.job].spec.request, state.rules, gone)
    return found is not None and planned.gpus <= set(found)


@tries(100)
@given(given=plays)
def test_why_agrees_with_the_pass_and_names_plans_that_hold_usable_gpus(given: Given) -> None:
    play, steps = a_play(given)
    for step in steps:
        play.take(step)
        if step[0] == "begin":  # frees nothing, so no pass follows
            continue
        turn = Pass(play.state, play.now)
        assert next(turn.run(), None) is None, "a pass leaves nothing to do"
        why = Explainer(play.state, play.now)
        first_plans = {planned.job: planned for planned in reversed(turn.plans)}
        assert {job: why.planned_start(play.state.jobs[job]) for job in first_plans} == first_plans
        for job in play.waiting:
            reasons = why.reasons(job)
            assert reasons, f"job {job.id} waits for nothing"
            for reason in reasons:
                if isinstance(reason, KeptFor):
                    holds_usable_gpus(play, turn, job, reason)


@tries(80)
@given(given=before, first=st.lists(wide, min_size=1, max_size=4), new=st.lists(st.one_of(narrow, mixed), max_size=6))
def test_before_a_pass_jobs_without_a_reason_are_those_that_would_start(
    given: Given, first: list[JobSpec], new: list[JobSpec]
) -> None:
    play, steps = a_play(given)
    for step in steps:
        play.take(step)
    put_in_line(play.state, [*first, *new], play.now)
    turn = Pass(play.state, play.now)
    decision = next(turn.run(), None)
    if isinstance(decision, Start):
        assert explain(play.state, decision.job, play.now) == ()
    for job in play.waiting:
        would = would_start(play.state, job.id, turn, play.now)
        if decision is not None or not would:  # otherwise only its turn is missing
            assert (explain(play.state, job, play.now) == ()) == would


def holds_usable_gpus(play: Play, turn: Pass, job: Job, reason: KeptFor) -> None:
    (planned,) = [one for one in turn.plans if (one.job, one.node) == (reason.job, reason.node)]
    assert (reason.gpus, reason.at) == (len(planned.gpus), planned.shown_at)
    assert isinstance(play.state.jobs[planned.job].status, Queued)
    assert would_delay(play.state, job, play.now, planned)
    request = job.spec.request
    usable = fitting_gpus(play.state.nodes[planned.node], request, play.state.rules)
    assert usable is not None
    assert len(usable) >= request.gpus, "without the plan, it would fit there"


@tries(50)
@given(given=plays, asked=st.lists(st.sampled_from([0.0, 0.5, 0.9]), min_size=1, max_size=7))
def test_questions_in_between_change_no_decision(given: Given, asked: list[float]) -> None:
    """Answers fill the same caches that decisions use, at moments when nothing happens."""
    (quiet, steps), (watched, _) = a_play(deepcopy(given)), a_play(given)
    for number, step in enumerate(steps):
        ask(watched.state, watched.now + asked[number % len(asked)])
        assert watched.take(step) == quiet.take(step)
        assert next_due(watched.state, watched.now) == next_due(quiet.state, quiet.now)
    assert watched.state.jobs == quiet.state.jobs


def ask(state: State, now: float) -> None:
    why = Explainer(state, now)
    for job in state.jobs.values():
        why.reasons(job)
        why.planned_start(job)
        position_of(state, job, now)
        for node in state.nodes.values():
            why.unavailable_gpus(job, node)
    estimates(state, now)
    line_up(state, now)
    next_due(state, now)
