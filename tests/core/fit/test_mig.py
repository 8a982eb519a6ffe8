"""A GPU and its MIG instances are the same hardware and are never booked at the same time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import GpusSeen, Reported
from tarmac.core.fit.gpu_fit import Taken, Unsuitable
from tarmac.core.invariants.invariants import violations
from tarmac.core.machine import handle
from tarmac.core.model.gpu import BookedGpu, Gpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Request
from tarmac.core.model.status import Booking
from tarmac.core.policy.feasibility import ConstraintUnmet, lack
from tarmac.core.policy.recheck import refusal
from tarmac.core.state import State
from tests.core.fit.test_gpu_fit import BOX, a_gpu, a_machine, named, queue, reasons, where
from tests.core.support.builders import exited


def an_instance(number: int, *, of: int = 0) -> Gpu:
    return replace(a_gpu(16 + number, memory_g=10, model="A100 MIG 1g.10gb"), parent=GpuUuid(f"g{of}"))


def see(state: State, *gpus: Gpu) -> None:
    handle(state, GpusSeen(node=BOX, gpus=gpus), 2.0)
    assert violations(state) == []


def end(state: State, job: int) -> None:
    handle(state, Reported(node=BOX, report=exited(job)), 3.0)


def test_instances_of_a_booked_gpu_are_not_assigned() -> None:
    state = a_machine(a_gpu(0))
    (running,) = queue(state, Request())
    see(state, an_instance(0), an_instance(1))
    whole, shared = queue(state, Request(), Request(gpu_memory_bytes=1))
    assert reasons(state, whole) == {16: Taken(jobs=(JobId(running),)), 17: Taken(jobs=(JobId(running),))}
    assert where(state, shared) is None
    end(state, running)
    assert (where(state, whole), where(state, shared)) == ([16], [17])


@pytest.mark.parametrize("is_remembered", [True, False])
def test_a_gpu_with_a_booked_instance_is_not_assigned(is_remembered: bool) -> None:
    state = a_machine(an_instance(0), an_instance(1))
    (running,) = queue(state, Request())
    see(state, *[a_gpu(0), an_instance(0)][: 1 + is_remembered])
    (waiting,) = queue(state, Request(gpus_on=(named(0),)))
    assert reasons(state, waiting)[0] == Taken(jobs=(JobId(running),))
    end(state, running)
    assert where(state, waiting) == [0]
    assert violations(state) == []


def test_instances_of_one_gpu_go_to_different_jobs() -> None:
    state = a_machine(an_instance(0), an_instance(1), a_gpu(1))
    assert [where(state, job) for job in queue(state, Request(), Request(), Request())] == [[1], [16], [17]]


def test_a_job_for_several_gpus_gets_no_instances() -> None:
    state = a_machine(a_gpu(1), an_instance(0), an_instance(1))
    assert lack(state, Request(gpus=2, gpu_models=("mig",))) == ConstraintUnmet(
        condition="mig", asked=2, have=0, of=2, models=("mig",), most_bytes=10 * 2**30
    )
    assert lack(state, Request(gpus=2, gpus_on=(named(16), named(17)))) is not None
    assert lack(state, Request(gpus=2)) is not None, "one whole GPU and an instance are no two GPUs"
    assert lack(state, Request(gpu_models=("mig",))) is None
    (job,) = queue(state, Request(gpus=2))
    assert reasons(state, job)[16] == Unsuitable(condition="mig")


@pytest.mark.parametrize(
    ("held", "wanted"), [(a_gpu(0), an_instance(0)), (an_instance(0), a_gpu(0))], ids=["whole", "part"]
)
def test_recheck_and_invariants_each_detect_both_conflicts(held: Gpu, wanted: Gpu) -> None:
    state = a_machine(held)
    queue(state, Request())
    (waiting,) = queue(state, Request())
    see(state, wanted)
    booked = BookedGpu(uuid=wanted.uuid, index=wanted.index, parent=wanted.parent)
    job = state.jobs[JobId(waiting)]
    assert "as a whole or in parts" in (refusal(state, job, Booking(node=BOX, gpus=(booked,))) or "")
    state.nodes[BOX].booked[wanted.uuid] = {job.id: booked}
    assert any("the GPU that it is a part of" in rule for rule in violations(state))
