"""When a job may use a GPU: whole, shared or by slot; with foreign processes, drained, or unsuitable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.events import (
    GpusDrained,
    GpusResumed,
    GpusSeen,
    JobsSubmitted,
    NodeJoined,
    NodeSampled,
    RulesSet,
    SlotsSet,
)
from tarmac.core.explain.reasons import HostBooked, HostShort, NeverFits, TooFewGpus
from tarmac.core.fit.gpu_fit import Drained, OutsideUse, Taken, TooLittleMemory, Unsuitable
from tarmac.core.invariants.invariants import violations
from tarmac.core.machine import handle
from tarmac.core.model.gpu import ForeignProcess, Gpu, GpuUse, NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Queued
from tarmac.core.policy.feasibility import PinnedGone, lack
from tarmac.core.state import State
from tests.core.support.effort import tries
from tests.core.support.explaining import explain

BOX = NodeName("box")
NOW = 100.0
G = 2**30
BOB = ForeignProcess(pid=42, user="bob")


def a_gpu(index: int, *, memory_g: int = 24, model: str = "A100", links: dict[int, int] | None = None) -> Gpu:
    linked = tuple((GpuUuid(f"g{other}"), level) for other, level in (links or {}).items())
    return Gpu(uuid=GpuUuid(f"g{index}"), index=index, model=model, memory_total_bytes=memory_g * G, links=linked)


def a_machine(*gpus: Gpu, cpus: int = 8, memory_g: int = 64) -> State:
    state = State()
    joined = NodeJoined(node=BOX, cpu_job_slots=4, runs=(), cpus=cpus, memory_total_bytes=memory_g * G)
    handle(state, joined, 0.0)
    handle(state, GpusSeen(node=BOX, gpus=gpus or (a_gpu(0), a_gpu(1))), 0.0)
    return state


def queue(state: State, *requests: Request) -> list[int]:
    specs = tuple(
        JobSpec(owner="ann", command=("x",), shell=None, cwd="/", umask=18, environment="", request=request)
        for request in requests
    )
    first = state.next_id
    handle(state, JobsSubmitted(specs=specs), 1.0)
    assert violations(state) == []
    return list(range(first, first + len(specs)))


def named(index: int) -> NamedGpu:
    return NamedGpu(uuid=GpuUuid(f"g{index}"), index=index)


def where(state: State, job: int) -> list[int] | None:
    """The GPUs a job has; None while it waits."""
    status = state.jobs[JobId(job)].status
    return None if isinstance(status, Queued) else [gpu.index for gpu in status.booking.gpus]  # type: ignore[union-attr]


def sample(state: State, *uses: tuple[int, GpuUse], available_g: float | None = None) -> None:
    available = None if available_g is None else int(available_g * G)
    told = tuple((GpuUuid(f"g{index}"), use) for index, use in uses)
    handle(state, NodeSampled(node=BOX, uses=told, memory_available_bytes=available), 2.0)
    assert violations(state) == []


def reasons(state: State, job: int) -> dict[int | GpuUuid, object]:
    (reason,) = [r for r in explain(state, state.jobs[JobId(job)], NOW) if isinstance(r, TooFewGpus)]
    return dict(reason.gpus)


def test_shared_jobs_pack_onto_one_gpu_and_leave_the_other_whole() -> None:
    state = a_machine()
    jobs = queue(state, *[Request(gpu_memory_bytes=8 * G)] * 3, Request())
    assert [where(state, job) for job in jobs] == [[0], [0], [0], [1]]


def test_a_booking_counts_from_the_decision_regardless_of_readings() -> None:
    state = a_machine(a_gpu(0))
    sample(state, (0, GpuUse(load=0.0)))
    jobs = queue(state, *[Request(gpu_memory_bytes=10 * G)] * 10)
    assert [where(state, job) for job in jobs[:3]] == [[0], [0], None]
    assert reasons(state, jobs[2]) == {
        0: TooLittleMemory(free_bytes=4 * G, total_bytes=24 * G, asked_bytes=10 * G, jobs=(JobId(1), JobId(2)))
    }


def test_the_reason_names_the_foreign_memory_that_a_sharing_job_lacks() -> None:
    state = a_machine(a_gpu(0))
    sample(state, (0, GpuUse(outside_bytes=20 * G, foreign_processes=(BOB,))))
    (job,) = queue(state, Request(gpu_memory_bytes=10 * G))
    reason = reasons(state, job)[0]
    assert isinstance(reason, TooLittleMemory)
    assert (reason.free_bytes, reason.outside_bytes, reason.foreign_processes) == (4 * G, 20 * G, (BOB,))


def test_an_exclusive_job_never_shares_its_gpu() -> None:
    state = a_machine(a_gpu(0))
    sharer, loner = queue(state, Request(gpu_memory_bytes=G), Request())
    assert (where(state, sharer), where(state, loner)) == ([0], None)
    assert reasons(state, loner) == {0: Taken(jobs=(JobId(sharer),))}
    state = a_machine(a_gpu(0))
    loner, sharer = queue(state, Request(), Request(gpu_share=0.1))
    assert (where(state, loner), where(state, sharer)) == ([0], None)


def test_shares_and_memory_add_up_to_one_gpu() -> None:
    state = a_machine(a_gpu(0))
    jobs = queue(state, Request(gpu_share=0.5), Request(gpu_memory_bytes=12 * G), Request(gpu_share=0.01))
    assert [where(state, job) for job in jobs] == [[0], [0], None]


def test_slots_let_several_jobs_without_a_memory_request_share_a_gpu() -> None:
    state = a_machine(a_gpu(0))
    handle(state, SlotsSet(node=BOX, gpus=(GpuUuid("g0"),), slots=3), 0.0)
    jobs = queue(state, *[Request()] * 4)
    assert [where(state, job) for job in jobs] == [[0], [0], [0], None]


def test_foreign_memory_counts_for_jobs_that_share() -> None:
    state = a_machine(a_gpu(0))
    sample(state, (0, GpuUse(outside_bytes=20 * G, foreign_processes=(BOB,), load=0.9)))
    fits, waits = queue(state, Request(gpu_memory_bytes=4 * G), Request(gpu_memory_bytes=G))
    assert (where(state, fits), where(state, waits)) == ([0], None)


def test_a_job_over_its_booking_counts_with_what_it_uses() -> None:
    state = a_machine(a_gpu(0))
    (greedy,) = queue(state, Request(gpu_memory_bytes=8 * G))
    taken = ((JobId(greedy), GpuUuid("g0"), 22 * G),)
    handle(state, NodeSampled(node=BOX, uses=((GpuUuid("g0"), GpuUse(load=0.9)),), taken=taken), 2.0)
    (waits,) = queue(state, Request(gpu_memory_bytes=14 * G))
    assert reasons(state, waits) == {
        0: TooLittleMemory(free_bytes=2 * G, total_bytes=24 * G, asked_bytes=14 * G, jobs=(JobId(greedy),))
    }


def test_keep_gpu_memory_is_never_booked() -> None:
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(keep_gpu_memory=0.5)), 0.0)
    jobs = queue(state, *[Request(gpu_memory_bytes=8 * G)] * 2)
    assert [where(state, job) for job in jobs] == [[0], None]


@pytest.mark.parametrize(
    ("use", "is_free"),
    [
        (GpuUse(outside_bytes=2 * G, foreign_processes=(BOB,), load=0.1), True),
        (GpuUse(outside_bytes=3 * G, foreign_processes=(BOB,), load=0.1), False),
        (GpuUse(outside_bytes=2 * G, foreign_processes=(BOB,), load=0.11), False),
        (GpuUse(outside_bytes=0, foreign_processes=(), load=0.9), True),
    ],
)
def test_a_little_foreign_use_is_tolerated(use: GpuUse, is_free: bool) -> None:
    state = a_machine(a_gpu(0))
    sample(state, (0, use))
    (job,) = queue(state, Request())
    assert (where(state, job) is not None) == is_free


def test_a_foreign_process_is_named_and_its_end_starts_the_job() -> None:
    state = a_machine(a_gpu(0))
    sample(state, (0, GpuUse(outside_bytes=20 * G, foreign_processes=(BOB,), load=1.0)))
    (job,) = queue(state, Request())
    assert reasons(state, job) == {0: OutsideUse(foreign_processes=(BOB,))}
    sample(state, (0, GpuUse()))
    assert where(state, job) == [0]


def test_an_idle_gpu_with_foreign_processes_serves_jobs_with_idle_below() -> None:
    state = a_machine(a_gpu(0))
    busy = GpuUse(outside_bytes=20 * G, foreign_processes=(BOB,), load=0.3)
    sample(state, (0, busy))
    (job,) = queue(state, Request(idle_below=20))
    assert where(state, job) is None
    sample(state, (0, replace(busy, load=0.19)))
    assert where(state, job) == [0]


def test_model_memory_pins_and_exclusions_choose_gpus() -> None:
    gpus = (a_gpu(0), a_gpu(1, model="H100", memory_g=80), a_gpu(2), a_gpu(3, model="V100", memory_g=16))
    state = a_machine(*gpus)
    asked = [
        Request(gpu_models=("h100",)),
        Request(gpus_on=(named(2),)),
        Request(exclude_gpus=(named(0),)),
        Request(min_gpu_memory_bytes=20 * G),
    ]
    assert [where(state, job) for job in queue(state, *asked)] == [[1], [2], [3], [0]]


def test_a_missing_gpu_model_can_never_fit() -> None:
    state = a_machine()
    assert lack(state, Request(gpu_models=("a100", "h100"))) is None
    assert lack(state, Request(gpu_models=("h100",))) is not None
    assert lack(state, Request(gpus_on=(named(7),))) is not None
    assert lack(state, Request(gpu_memory_bytes=25 * G)) is not None
    assert lack(state, Request(cpus=9)) is not None
    (job,) = queue(state, Request(gpus_on=(named(7),)))
    assert explain(state, state.jobs[JobId(job)], NOW)[0] == NeverFits(lack=PinnedGone(gpus=(named(7),)))
    assert reasons(state, job)[0] == Unsuitable(condition="pin")


def test_a_drained_gpu_gets_no_new_job_and_keeps_its_running_one() -> None:
    state = a_machine(a_gpu(0))
    (running,) = queue(state, Request())
    handle(state, GpusDrained(node=BOX, gpus=(GpuUuid("g0"),), by="ann", reason="fan"), 1.0)
    (waiting,) = queue(state, Request())
    assert where(state, running) == [0]
    assert reasons(state, waiting) == {0: Drained(reason="fan", by="ann")}
    assert state.changes.gpus[BOX, GpuUuid("g0")][0] is not None
    handle(state, GpusResumed(node=BOX, gpus=(GpuUuid("g0"),)), 1.0)
    assert reasons(state, waiting) == {0: Taken(jobs=(JobId(running),))}


def test_a_wide_job_gets_gpus_that_are_close_to_each_other() -> None:
    gpus = [
        a_gpu(0, links={1: 1, 2: 5, 3: 1}),
        a_gpu(1, links={0: 1, 2: 1, 3: 5}),
        a_gpu(2, links={0: 5, 1: 1, 3: 1}),
        a_gpu(3, links={0: 1, 1: 5, 2: 1}),
    ]
    state = a_machine(*gpus)
    first, second = queue(state, Request(gpus=2), Request(gpus=2))
    assert (where(state, first), where(state, second)) == ([0, 2], [1, 3])


def test_host_memory_and_cpus_are_booked() -> None:
    state = a_machine(*[a_gpu(index) for index in range(4)])
    jobs = queue(state, *[Request(gpus=1, memory_bytes=30 * G, cpus=3)] * 3)
    assert [where(state, job) for job in jobs] == [[0], [1], None]
    assert explain(state, state.jobs[JobId(jobs[2])], NOW) == (
        HostBooked(node=BOX, what="memory", asked=30 * G, free=4 * G, total=64 * G),
        HostBooked(node=BOX, what="cpus", asked=3, free=2, total=8),
    )


def test_nothing_starts_while_the_host_is_short_of_memory() -> None:
    state = a_machine()
    sample(state, available_g=10)
    (job,) = queue(state, Request())
    assert explain(state, state.jobs[JobId(job)], NOW) == (
        HostShort(node=BOX, available_bytes=10 * G, kept_bytes=int(0.2 * 64 * G)),
    )
    sample(state, available_g=20)
    assert where(state, job) == [0]


requests = st.builds(
    Request,
    gpus=st.integers(0, 3),
    gpu_memory_bytes=st.none() | st.sampled_from([4 * G, 8 * G, 13 * G]),
    gpu_models=st.sampled_from([(), ("a100",), ("h100",)]),
    exclude_gpus=st.sampled_from([(), (named(0),), (named(1), named(2)), (1,)]),
    idle_below=st.none() | st.just(20),
    cpus=st.integers(0, 3),
)
uses = st.builds(
    GpuUse,
    outside_bytes=st.sampled_from([0, G, 20 * G]),
    foreign_processes=st.sampled_from([(), (BOB,)]),
    load=st.none() | st.sampled_from([0.0, 0.15, 0.9]),
    health=st.none() | st.just("Xid 79"),
)


@tries(100)
@given(asked=st.lists(requests, max_size=12), read=st.lists(uses, min_size=4, max_size=4), slots=st.integers(1, 3))
def test_nothing_is_overbooked_and_every_waiting_job_has_a_reason(
    asked: list[Request], read: list[GpuUse], slots: int
) -> None:
    gpus = [a_gpu(0), a_gpu(1), a_gpu(2, model="H100", memory_g=80), a_gpu(3)]
    state = a_machine(*gpus)
    handle(state, SlotsSet(node=BOX, gpus=(GpuUuid("g3"),), slots=slots), 0.0)
    sample(state, *enumerate(read))
    for request in asked:
        queue(state, request)
    for job in state.jobs.values():
        assert bool(explain(state, job, NOW)) == isinstance(job.status, Queued)
    for uuid, held in state.nodes[BOX].booked.items():
        booked = sum(gpu.memory_bytes for gpu in held.values())
        assert booked <= state.nodes[BOX].gpus[uuid].memory_total_bytes
        assert len(held) == 1 or all(gpu.memory_bytes for gpu in held.values())
        assert uuid not in state.nodes[BOX].drains
