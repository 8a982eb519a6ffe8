"""The reasons of waiting jobs, and that they always agree with the decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.explain.reasons import CpuSlotsTaken, NeverFits, NodeAway, NoNode, TooFewGpus
from tarmac.core.fit.gpu_fit import Taken
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.status import Starting
from tarmac.core.policy import scheduling_pass
from tarmac.core.policy.feasibility import TooFewGpusOnNode
from tarmac.core.policy.placement import place
from tarmac.core.state import State
from tests.core.support.builders import BOX, NOW, a_booking, a_job, a_node, a_state, a_status
from tests.core.support.explaining import explain


def test_no_node_is_connected() -> None:
    job = a_job()
    assert explain(a_state(jobs=(job,)), job, NOW) == (NoNode(),)
    assert explain(a_state(a_node(is_connected=False), jobs=(job,)), job, NOW) == (NoNode(),)


def test_too_few_gpus_reports_indices_and_holders() -> None:
    job = a_job(9, gpus=2)
    second = a_job(2, status=a_status("running", a_booking(0)))
    first = a_job(1, gpus=2, status=a_status("stopping", a_booking(1, 3)))
    state = a_state(a_node(gpus=4), jobs=(first, second, job))
    gpus = ((0, Taken(jobs=(JobId(2),))), (1, Taken(jobs=(JobId(1),))), (3, Taken(jobs=(JobId(1),))))
    assert explain(state, job, NOW) == (TooFewGpus(node=BOX, asked=2, free=1, total=4, gpus=gpus),)


def test_all_cpu_slots_are_taken() -> None:
    job = a_job(2, gpus=0)
    busy = a_job(1, gpus=0, status=a_status("running", a_booking()))
    state = a_state(a_node(cpu_job_slots=1), jobs=(busy, job))
    assert explain(state, job, NOW) == (CpuSlotsTaken(node=BOX, slots=1),)


def test_a_request_larger_than_any_node() -> None:
    job = a_job(gpus=5)
    state = a_state(a_node(gpus=2), a_node(gpus=4, name="big"), jobs=(job,))
    assert explain(state, job, NOW)[0] == NeverFits(lack=TooFewGpusOnNode(asked=5, have=4), nodes=2)


def test_each_node_has_its_own_reason() -> None:
    job = a_job(9, gpus=2)
    busy = a_job(1, status=a_status("running", a_booking(0)))
    away = a_node(gpus=2, name="away", is_connected=False)
    state = a_state(a_node(gpus=2), away, jobs=(busy, job))
    assert explain(state, job, NOW) == (
        TooFewGpus(node=BOX, asked=2, free=1, total=2, gpus=((0, Taken(jobs=(JobId(1),))),)),
        NodeAway(node=NodeName("away")),
    )


@pytest.mark.parametrize("name", ["starting", "running", "stopping", "unknown"])
def test_a_job_that_does_not_wait_has_no_reasons(name: str) -> None:
    job = a_job(status=a_status(name))
    assert explain(a_state(a_node(is_connected=False), jobs=(job,)), job, NOW) == ()


def test_a_job_that_fits_has_no_reasons() -> None:
    job = a_job(gpus=2)
    assert explain(a_state(a_node(gpus=2), jobs=(job,)), job, NOW) == ()


node_shapes = st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans())
job_shapes = st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.integers(0, 2), st.booleans())


def a_world(nodes: list[tuple[int, int, bool]], jobs: list[tuple[int, str, int, bool]]) -> State:
    """Some jobs run where they fit; the others wait, before any pass."""
    made = [a_node(name=f"n{i}", gpus=g, cpu_job_slots=s, is_connected=c) for i, (g, s, c) in enumerate(nodes)]
    state = a_state(*made)
    state.rules = replace(state.rules, policy="fifo")
    for number, (gpus, owner, priority, runs) in enumerate(jobs, 1):
        job = a_job(number, gpus=gpus, owner=owner, priority=priority)
        state.load([job], next_id=number + 1)
        booking = place(state, job.spec.request) if runs else None
        if booking is not None:
            job.attempt = 1
            state.enter(job, Starting(booking=booking, decided_at=0.0))
    return state


def one_pass(state: State) -> list[Job]:
    starts = []
    for decision in scheduling_pass.Pass(state, NOW).run():
        assert isinstance(decision, scheduling_pass.Start)
        decision.job.attempt += 1
        state.enter(decision.job, Starting(booking=decision.booking, decided_at=0.0))
        starts.append(decision.job)
    return starts


@given(st.lists(node_shapes, max_size=3), st.lists(job_shapes, max_size=12))
def test_reasons_and_decisions_agree(
    nodes: list[tuple[int, int, bool]], jobs: list[tuple[int, str, int, bool]]
) -> None:
    state = a_world(nodes, jobs)
    waiting = [state.jobs[number] for number in state.queue.in_order()]
    without_reason = [job for job in waiting if not explain(state, job, NOW)]
    starts = one_pass(state)
    assert set(map(id, starts)) <= set(map(id, without_reason)), "what starts had no reason to wait"
    assert starts[:1] == without_reason[:1], "the first without a reason is the first to start"
    assert all(explain(state, state.jobs[number], NOW) for number in state.queue.in_order()), (
        "each has a reason to wait"
    )
