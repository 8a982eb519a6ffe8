"""Properties after every event: nothing is overbooked, no limit is exceeded, every waiting job has a reason.

All of it is recomputed here from the jobs alone.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.changes import StoryLine
from tarmac.core.events import JobsSubmitted
from tarmac.core.handlers.queue import queueing
from tarmac.core.limits import reached_there
from tarmac.core.model.job import JobSpec
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Queued, holds_booking
from tarmac.core.policy.eligibility import gate
from tarmac.core.policy.scheduling_pass import Pass, Start, booking_for
from tarmac.core.state import State
from tests.core.support.effort import tries
from tests.core.support.explaining import explain
from tests.core.support.loads import limits, machines, rules, specs, whole
from tests.core.support.play import Play, Step, steps

in_arrays = specs(max_running=st.sampled_from([None, 1, 2]))
plain = specs(whole, tier=st.just("normal"))  # often in each other's way


@tries(150)
@given(nodes=machines(), rules=rules, steps=steps())
def test_nothing_is_booked_twice_or_overbooked(nodes: list[Node], rules: Rules, steps: list[Step]) -> None:
    play = Play(nodes, rules)
    for step in steps:
        play.take(step)
        for node in play.state.nodes.values():
            recount_gpus(play, node)
            recount_host(play, node)
        for job in play.booked:
            nodes_of_job = job.status.booking.nodes  # type: ignore[union-attr]
            assert set(nodes_of_job) <= set(play.state.nodes)
            if (job.id, job.attempt) not in play.forced:
                assert len(set(nodes_of_job)) == job.spec.request.node_count, "all or nothing"


def recount_gpus(play: Play, node: Node) -> None:
    for device in node.gpus.values():
        held = [
            gpu
            for job in play.booked
            if (booking := holds_booking(job.status)) is not None
            for gpu in booking.gpus_on(node.name)
            if gpu.uuid == device.uuid
        ]
        assert len(held) <= 1 or all(gpu.memory_bytes > 0 for gpu in held), "one has the whole GPU"
        assert sum(gpu.memory_bytes for gpu in held) <= device.memory_total_bytes
        assert sum(gpu.part for gpu in held) <= 1.0 + 1e-9


def recount_host(play: Play, node: Node) -> None:
    """Forced jobs ignore the host's resources."""
    here = [job for job in play.booked if node.name in job.status.booking.nodes]  # type: ignore[union-attr]
    if any((job.id, job.attempt) in play.forced for job in here):
        return
    asked = [job.spec.request for job in here]
    assert sum(request.gpus == 0 for request in asked) <= node.cpu_job_slots
    assert sum(request.cpus for request in asked) <= node.cpus
    assert sum(request.memory_bytes for request in asked) <= node.memory_total_bytes


@tries(150)
@given(nodes=machines(), rules=limits, steps=steps(in_arrays), later=limits)
def test_no_limit_is_ever_exceeded(nodes: list[Node], rules: Rules, steps: list[Step], later: Rules) -> None:
    """A limit may be exceeded by a forced start, or because it was lowered."""
    play = Play(nodes, rules)
    for step in steps:
        recount_limits(play, play.take(step))
    recount_limits(play, play.set_rules(later))
    assert play.state.rules == later, "the new limits were in force"


def recount_limits(play: Play, told: list[StoryLine]) -> None:
    rules, jobs = play.state.rules, play.state.jobs
    owners: Counter[str | None] = Counter()
    projects: Counter[str | None] = Counter()
    for job in play.booked:
        part = sum(gpu.part for gpu in job.status.booking.all_gpus)  # type: ignore[union-attr]
        owners[job.spec.owner] += part  # type: ignore[assignment]
        projects[job.spec.project] += part  # type: ignore[assignment]
    for spec, group in ((jobs[n].spec, jobs[n].group) for n in decided(play, told)):
        together = [job for job in play.booked if job.group == group]
        assert spec.max_running is None or group is None or len(together) <= spec.max_running
        if spec.request.gpus:
            assert owners[spec.owner] <= (rules.max_gpus_per_user(spec.owner) or 1e9) + 1e-6
            assert spec.request.gpus * spec.request.node_count <= (rules.max_gpus_per_job or 1e9)
        if spec.request.gpus and spec.project is not None:
            assert projects[spec.project] <= (rules.max_gpus_per_project(spec.project) or 1e9) + 1e-6


def decided(play: Play, told: list[StoryLine]) -> list[int]:
    return [line.job for line in told if line.kind == "Decided" and line.job in play.state.jobs]


@tries(100)
@given(nodes=machines(), rules=limits, steps=steps())
def test_a_paused_queue_starts_nothing_whatever_happens(nodes: list[Node], rules: Rules, steps: list[Step]) -> None:
    play = Play(nodes, rules)
    for step in steps:
        told = play.take(step)
        if play.state.mode.is_paused:
            assert {line.kind for line in told} & {"Decided", "Preempted"} == set()


@tries(250)
@given(nodes=machines(), rules=st.one_of(rules, rules, limits), steps=st.one_of(steps(in_arrays), steps(plain)))
def test_after_a_pass_every_wait_has_its_reason(nodes: list[Node], rules: Rules, steps: list[Step]) -> None:
    play = Play(nodes, rules)
    for step in steps:
        play.take(step)
        if step[0] == "begin":  # frees nothing, so no pass follows
            continue
        assert next(Pass(play.state, play.now).run(), None) is None, "a pass leaves nothing to do"
        without = [job.id for job in play.waiting if not explain(play.state, job, play.now)]
        assert without == []
        assert not any(explain(play.state, job, play.now) for job in play.booked)


@tries(150)
@given(
    nodes=machines(),
    rules=st.one_of(rules, limits),
    running=steps(in_arrays, most=10),
    new=st.lists(in_arrays, max_size=5),
)
def test_reasons_are_empty_exactly_for_jobs_that_would_start(
    nodes: list[Node], rules: Rules, running: list[Step], new: list[JobSpec]
) -> None:
    """Ask before a pass, while many jobs could still start."""
    play = Play(nodes, rules)
    for step in running:
        play.take(step)
    put_in_line(play.state, new, play.now)
    line = Pass(play.state, play.now)
    first = next(line.run(), None)
    if isinstance(first, Start):
        assert explain(play.state, first.job, play.now) == ()
    for job in play.waiting:
        would = would_start(play.state, job.id, line, play.now)
        if first is None and would:
            continue  # only its turn is missing
        assert (explain(play.state, job, play.now) == ()) == would


def would_start(state: State, number: int, line: Pass, now: float) -> bool:
    job = state.jobs[number]  # type: ignore[index]
    is_ready = isinstance(job.status, Queued) and job.id not in state.blocked and not state.mode.is_paused
    is_passed = line.blocker is None or line.blocker.id == job.id
    if not is_ready or not is_passed or gate(state, job, now) is not None:
        return False
    booking = booking_for(state, job, now, line.plans)
    return booking is not None and reached_there(state, job, booking) is None


def put_in_line(state: State, specs: list[JobSpec], now: float) -> None:
    """Add jobs like a submit, but without its pass."""
    queueing.change(state, JobsSubmitted(specs=tuple(specs)), now)
