"""Every preemption is needed: the job it is for starts once they have ended, and fewer would not suffice."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.node import Node
from tarmac.core.model.rules import PerName, Rules
from tarmac.core.model.status import Queued, Starting, Stopping
from tarmac.core.policy.scheduling_pass import Pass
from tests.core.support.brute_force import fits
from tests.core.support.builders import a_node, a_spec
from tests.core.support.effort import tries
from tests.core.support.loads import GIB, machines, specs, with_gpus
from tests.core.support.play import Play, report

low = specs(tier=st.sampled_from(["preemptible", "preemptible", "normal"]))
high = specs(with_gpus, tier=st.sampled_from(["normal", "urgent"]))
orders = st.builds(
    Rules,
    policy=st.just("fifo"),
    is_backfilling=st.booleans(),
    starvation_s=st.sampled_from([0.0, 1e18]),
    suspend_after_failures=st.just(0),
)


@tries(300)
@given(
    nodes=machines(),
    rules=orders,
    running=st.lists(low, min_size=1, max_size=8),
    waiting=st.lists(high, min_size=1, max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_no_job_is_preempted_needlessly(
    nodes: list[Node], rules: Rules, running: list[JobSpec], waiting: list[JobSpec], order: object
) -> None:
    play = Play(nodes, rules)
    play.take(("submit", 1, (running, "queued")))
    for job in [job for job in play.booked if job.id % 2]:
        play.happen(report(job, "start", play.now))
    play.take(("submit", 1, (waiting, "queued")))
    told = [line for line in play.take(("wait", 0, 1.0)) if line.kind == "Preempted"]
    assert told == [], "jobs are preempted at once"
    for number, gone in preempted_for(play).items():
        needs_them_all(play, play.state.jobs[number], gone)
    end_preempted(play, order)


def preempted_for(play: Play) -> dict[JobId, list[JobId]]:
    """The preempted jobs, by the job they were preempted for."""
    found: dict[JobId, list[JobId]] = {}
    for job in play.booked:
        if isinstance(job.status, Stopping):
            assert job.spec.tier == "preemptible"
            assert job.status.for_job is not None
            found.setdefault(job.status.for_job, []).append(job.id)
    return found


def needs_them_all(play: Play, job: Job, gone: list[JobId]) -> None:
    assert isinstance(job.status, Queued)
    on = [set(play.state.jobs[number].status.booking.nodes) for number in gone]  # type: ignore[union-attr]
    nodes = [play.state.nodes[name] for name in set.intersection(*on)]
    assert any(is_left_by(play, node, job, gone) for node in nodes), "they leave one node, perhaps with others"


def is_left_by(play: Play, node: Node, job: Job, gone: list[JobId]) -> bool:
    """Does the job fit on the node once these are gone, and not once fewer are?"""
    request, rules = job.spec.request, play.state.rules
    others = [one for one in node.host if isinstance(play.state.jobs[one].status, Stopping) and one not in gone]
    fewer = (some for count in range(len(gone)) for some in combinations(gone, count))
    return fits(node, request, rules, [*others, *gone]) and not any(
        fits(node, request, rules, [*others, *some]) for some in fewer
    )


def end_preempted(play: Play, order: object) -> None:
    """End all stopping jobs one by one. Each job starts by the end of the last one preempted for it."""
    expected = preempted_for(play)
    leaving = [number for gone in expected.values() for number in gone]
    order.shuffle(leaving)  # type: ignore[attr-defined]
    for number in leaving:
        play.now += 1.0
        for name in play.state.jobs[number].status.booking.nodes:  # type: ignore[union-attr]
            if isinstance(play.state.jobs[number].status, Stopping):
                play.happen(report(play.state.jobs[number], "exit", play.now, node=name))
        for job, gone in expected.items():
            gone[:] = [one for one in gone if one != number]
            assert gone or isinstance(play.state.jobs[job].status, Starting), f"{number} left for {job} for nothing"


def test_preempted_gpus_are_held_for_the_job_even_if_another_node_is_free_sooner() -> None:
    play = Play([a_node(gpus=1, name="n0"), a_node(gpus=1, name="n1")], Rules(policy="fifo"))
    play.take(("submit", 1, ([a_spec(tier="preemptible"), a_spec(time_limit_s=5.0)], "queued")))
    play.take(("submit", 1, ([a_spec(tier="urgent")], "queued")))
    assert preempted_for(play) == {3: [1]}
    turn = Pass(play.state, play.now)
    assert next(turn.run(), None) is None
    assert turn.plans
    assert turn.plans[0].node == play.state.jobs[JobId(1)].status.booking.node  # type: ignore[union-attr]


def test_a_preempted_job_does_not_restart_before_the_others_have_stopped() -> None:
    play = Play([a_node(gpus=2, name="n0")], Rules(policy="fifo"))
    play.take(("submit", 1, ([a_spec(tier="preemptible", time_limit_s=5.0)] * 2, "queued")))
    play.take(("submit", 1, ([a_spec(gpus=2, tier="urgent")], "queued")))
    assert preempted_for(play) == {3: [1, 2]}
    play.now += 1.0
    play.happen(report(play.state.jobs[JobId(1)], "exit", play.now))
    assert isinstance(play.state.jobs[JobId(1)].status, Queued)


def test_no_job_is_preempted_for_a_job_that_a_limit_keeps_off_its_gpus() -> None:
    """The part of a GPU that a memory request takes depends on the GPU."""
    node = a_node(gpus=1, name="n0")
    node.gpus = {uuid: replace(gpu, memory_total_bytes=24 * GIB) for uuid, gpu in node.gpus.items()}
    play = Play([node], Rules(policy="fifo", max_gpus_per_user=PerName(0.0, (("bob", 0.5),))))
    play.take(("submit", 1, ([a_spec(tier="preemptible")], "queued")))
    ask = Request(gpus=1, gpu_memory_bytes=20 * GIB)
    play.take(("submit", 1, ([replace(a_spec(owner="bob", tier="urgent"), request=ask)], "queued")))
    assert preempted_for(play) == {}
