"""Which job starts, where, and the cost of a pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import GpusSeen, JobsSubmitted, NodeJoined, Reported
from tarmac.core.machine import handle
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.job import Job, Request
from tarmac.core.model.status import Booking, Starting
from tarmac.core.policy import placement, scheduling_pass
from tarmac.core.policy.feasibility import lack
from tarmac.core.policy.placement import place
from tarmac.core.policy.plans.exclusions import ExcludesGpus
from tarmac.core.policy.recheck import refusal
from tarmac.core.state import State
from tests.core.support.builders import (
    BOX,
    NOW,
    a_booking,
    a_job,
    a_node,
    a_spec,
    a_state,
    a_status,
    exited,
    numbered_gpus,
    submitted,
)
from tests.core.support.scene import Scene


def chosen(state: State) -> list[tuple[int, str, list[int]]]:
    """One pass, applied: (job, node, GPU indices) in the order of the decisions."""
    decided = []
    state.rules = replace(state.rules, policy="fifo")
    for decision in scheduling_pass.Pass(state, NOW).run():
        assert isinstance(decision, scheduling_pass.Start)
        job, booking = decision.job, decision.booking
        decided.append((int(job.id), str(booking.node), [gpu.index for gpu in booking.gpus]))
        job.attempt += 1
        state.enter(job, Starting(booking=booking, decided_at=0.0))
    return decided


def test_jobs_start_by_priority_then_position_across_owners_and_requests() -> None:
    jobs = (
        a_job(1, owner="bob"),
        a_job(2, gpus=2, priority=5),
        a_job(3, owner="bob", priority=5),
        a_job(4, owner="cat"),
    )
    assert chosen(a_state(a_node(gpus=4), jobs=jobs)) == [(2, BOX, [0, 1]), (3, BOX, [2]), (1, BOX, [3])]


def test_a_later_job_of_another_class_goes_first_when_its_priority_is_better() -> None:
    jobs = (a_job(1, priority=10), a_job(2, gpus=2, priority=9), a_job(3, owner="bob", priority=5))
    assert [job for job, *_ in chosen(a_state(a_node(gpus=4), jobs=jobs))] == [3, 2, 1]


def test_equal_ranks_go_by_id() -> None:
    jobs = (a_job(2, position=1, owner="bob"), a_job(1, position=1))
    assert [job for job, *_ in chosen(a_state(a_node(gpus=2), jobs=jobs))] == [1, 2]


def test_a_fitting_job_starts_although_a_larger_one_ahead_does_not() -> None:
    jobs = (a_job(1, gpus=3), a_job(2, gpus=1), a_job(3, gpus=2))
    assert chosen(a_state(a_node(gpus=2), jobs=jobs)) == [(2, BOX, [0])]


def test_one_class_starts_all_jobs_that_fit_in_one_pass() -> None:
    jobs = tuple(a_job(number) for number in range(1, 6))
    assert [job for job, *_ in chosen(a_state(a_node(gpus=3), jobs=jobs))] == [1, 2, 3]


def test_the_first_node_that_has_enough_is_taken() -> None:
    nodes = (a_node(gpus=1, name="small"), a_node(gpus=2, name="large"))
    assert chosen(a_state(*nodes, jobs=(a_job(1, gpus=2), a_job(2)))) == [(1, "large", [0, 1]), (2, "small", [0])]


def test_a_job_is_never_spread_over_nodes() -> None:
    nodes = (a_node(gpus=1, name="n1"), a_node(gpus=1, name="n2"))
    assert chosen(a_state(*nodes, jobs=(a_job(1, gpus=2),))) == []


def test_a_disconnected_node_is_skipped() -> None:
    nodes = (a_node(gpus=2, name="away", is_connected=False), a_node(gpus=1, name="here"))
    assert chosen(a_state(*nodes, jobs=(a_job(1), a_job(2)))) == [(1, "here", [0])]


def test_the_lowest_free_indices_are_taken() -> None:
    busy = a_job(1, gpus=1, status=a_status("running", a_booking(1)))
    assert chosen(a_state(a_node(gpus=4), jobs=(busy, a_job(2, gpus=2)))) == [(2, BOX, [0, 2])]


def test_slots_limit_jobs_without_gpus() -> None:
    jobs = tuple(a_job(number, gpus=0) for number in (1, 2, 3))
    assert [job for job, *_ in chosen(a_state(a_node(cpu_job_slots=2), jobs=jobs))] == [1, 2]


def test_without_backfill_a_job_without_gpus_blocks_nothing() -> None:
    state = a_state(a_node(gpus=1, cpu_job_slots=0), jobs=(a_job(1, gpus=0), a_job(2)))
    state.rules = replace(state.rules, is_backfilling=False)
    assert [job for job, *_ in chosen(state)] == [2]


# recheck: independent of placement, so each refusal has a test


def plan(state: State, job: Job) -> Booking:
    booking = place(state, job.spec.request)
    assert booking is not None
    return booking


def test_a_sound_plan_is_not_refused() -> None:
    job = a_job(1, gpus=2)
    state = a_state(a_node(), jobs=(job,))
    assert refusal(state, job, plan(state, job)) is None


@pytest.mark.parametrize(
    ("booking", "said"),
    [
        (a_booking(0), "job 2 does not wait"),
        (a_booking(0, node="nowhere"), "node nowhere is out of reach"),
        (a_booking(0, node="away"), "node away is out of reach"),
        (a_booking(2, 3), "2 GPUs planned, 1 asked"),
        (a_booking(), "0 GPUs planned, 1 asked"),
        (a_booking(1), "GPU box-1 is booked by job 2"),
        (a_booking(9), "GPU box-9 is not on node box"),
    ],
)
def test_an_unsound_plan_is_refused_with_its_reason(booking: Booking, said: str) -> None:
    waiting, busy = a_job(1), a_job(2, status=a_status("running", a_booking(1)))
    away = a_node(name="away", is_connected=False)
    state = a_state(a_node(gpus=4), away, jobs=(waiting, busy))
    job = busy if said.startswith("job 2") else waiting
    assert refusal(state, job, booking) == said


def test_a_gpu_planned_twice_for_one_job_is_refused() -> None:
    job = a_job(1, gpus=2)
    state = a_state(a_node(), jobs=(job,))
    twice = Booking(node=BOX, gpus=a_booking(0).gpus * 2)
    assert refusal(state, job, twice) == "1 GPUs planned, 2 asked"


def test_an_outdated_job_record_is_refused() -> None:
    state = a_state(a_node(), jobs=(a_job(1),))
    assert refusal(state, a_job(1), a_booking(0)) == "job 1 does not wait"


def test_a_slot_that_is_taken_is_refused() -> None:
    busy, waiting = a_job(1, gpus=0, status=a_status("running", a_booking())), a_job(2, gpus=0)
    state = a_state(a_node(cpu_job_slots=1), jobs=(busy, waiting))
    assert refusal(state, waiting, a_booking()) == "all 1 slots for jobs without GPUs are taken"


def test_a_refused_plan_is_skipped_and_the_pass_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = (a_job(1, gpus=2), a_job(2))
    monkeypatch.setattr(scheduling_pass, "refusal", lambda _state, job, _booking: "no" if job.id == 1 else None)
    assert [job for job, *_ in chosen(a_state(a_node(), jobs=jobs))] == [2]


# feasibility


@pytest.mark.parametrize(("asked", "can"), [(0, True), (1, True), (3, True), (4, False)])
def test_a_request_larger_than_every_node_can_never_fit(asked: int, can: bool) -> None:
    nodes = (a_node(gpus=1, name="n1"), a_node(gpus=3, name="n3", is_connected=False))
    assert (lack(a_state(*nodes), Request(gpus=asked)) is None) is can


def test_a_request_may_fit_on_a_busy_node_later_or_on_unknown_nodes() -> None:
    busy = a_job(1, gpus=2, status=a_status("running", a_booking(0, 1)))
    assert lack(a_state(a_node(gpus=2), jobs=(busy,)), Request(gpus=2)) is None
    assert lack(a_state(), Request(gpus=99)) is None


def test_a_node_known_only_from_its_jobs_may_have_any_number_of_gpus() -> None:
    """As after a restart, before the node is connected."""
    state = a_state(jobs=(a_job(1, gpus=2, status=a_status("running", a_booking(0, 1))),))
    assert lack(state, Request(gpus=99)) is None
    handle(state, NodeJoined(node=BOX, cpu_job_slots=1, runs=()), 100.0)
    assert lack(state, Request(gpus=99)) is None
    handle(state, GpusSeen(node=BOX, gpus=numbered_gpus(2)), 100.0)
    assert lack(state, Request(gpus=2)) is None
    assert lack(state, Request(gpus=99)) is not None


# cost


@pytest.fixture
def placings(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """All calls of `place` during passes."""
    asked: list[Request] = []

    def counted(state: State, request: Request, kept: ExcludesGpus | None = None) -> Booking | None:
        asked.append(request)
        return place(state, request, kept)

    monkeypatch.setattr(placement, "place", counted)
    return asked


@pytest.mark.parametrize("length", [10, 1000, 20_000])
def test_a_pass_checks_each_distinct_request_once_on_a_full_node(placings: list[Request], length: int) -> None:
    scene = Scene(gpus=1)
    owners = ("ann", "bob", "cat")
    specs = [a_spec(owner=owners[number % 3], priority=number % 7) for number in range(length)]
    scene.happen(JobsSubmitted(specs=tuple(specs)))
    placings.clear()
    handle(scene.state, submitted(a_spec(owner="ann", gpus=1)), 0.0)
    assert len(placings) == 1


@pytest.mark.parametrize("length", [10, 1000, 20_000])
def test_a_pass_costs_one_more_check_per_start(placings: list[Request], length: int) -> None:
    scene = Scene(gpus=2)
    scene.happen(JobsSubmitted(specs=(a_spec(gpus=1),) * length))
    placings.clear()
    handle(scene.state, Reported(node=BOX, report=exited(1)), 0.0)
    assert len(placings) == 2, "one start, and one question that finds nothing more fits"


def test_a_pass_without_nodes_makes_no_checks(placings: list[Request]) -> None:
    handle(State(), submitted(a_spec(), a_spec(gpus=2)), 0.0)
    assert placings == []


def test_cancelling_from_the_middle_of_a_long_queue_keeps_its_order() -> None:
    scene = Scene(gpus=1)
    scene.submit(*[a_spec(priority=number % 3) for number in range(50)])
    for number in range(2, 50, 2):
        scene.stop(number)
    order = [1]
    while scene.report(exited(order[-1])) and scene.starts():
        order.append(scene.starts()[0][0])
    left = [number for number in range(3, 51) if number % 2 or number == 50]
    assert order == [1, *sorted(left, key=lambda number: ((number - 1) % 3, number))]


def test_nodes_are_distinguished_by_name() -> None:
    state = a_state(a_node(name="n1", gpus=1), a_node(name="n2", gpus=1), jobs=(a_job(1), a_job(2)))
    assert chosen(state) == [(1, "n1", [0]), (2, "n2", [0])]
    assert state.nodes[NodeName("n1")].holders(GpuUuid("n1-0")) == (1,)
