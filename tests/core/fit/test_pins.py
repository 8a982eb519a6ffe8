"""Pins identify GPUs by UUID, so they survive a driver that renumbers its GPUs."""

from __future__ import annotations

from dataclasses import replace

from tarmac.core.events import GpusSeen, NodeSampled, Reported
from tarmac.core.explain.reasons import NeverFits
from tarmac.core.fit.gpu_fit import Drained, Taken
from tarmac.core.machine import handle
from tarmac.core.model.gpu import Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Request
from tarmac.core.policy.feasibility import PinnedGone
from tarmac.core.state import State
from tests.core.fit.test_gpu_fit import BOX, a_gpu, a_machine, named, queue, reasons
from tests.core.support.builders import exited
from tests.core.support.explaining import explain

VANISHED = GpuUse(health="vanished from the driver", is_gone=True)


def see(state: State, *gpus: Gpu) -> None:
    handle(state, GpusSeen(node=BOX, gpus=gpus), 2.0)


def uuids(state: State, job: int) -> list[str]:
    return [gpu.uuid for gpu in state.jobs[JobId(job)].status.booking.gpus]  # type: ignore[union-attr]


def test_a_pin_follows_its_gpu_after_renumbering() -> None:
    state = a_machine()
    (running,) = queue(state, Request(gpus=2))
    pinned, excluding = queue(state, Request(gpus_on=(named(0),)), Request(exclude_gpus=(named(0),)))
    see(state, replace(a_gpu(1), index=0), replace(a_gpu(0), index=1))
    assert reasons(state, pinned)[1] == Taken(jobs=(JobId(running),))
    handle(state, Reported(node=BOX, report=exited(running)), 3.0)
    assert (uuids(state, pinned), uuids(state, excluding)) == (["g0"], ["g1"])


def test_a_pin_of_an_older_job_is_an_index() -> None:
    state = a_machine()
    see(state, replace(a_gpu(1), index=0), replace(a_gpu(0), index=1))
    (old,) = queue(state, Request(gpus_on=(0,)))
    assert uuids(state, old) == ["g1"]


def test_a_job_pinned_to_a_missing_gpu_waits_with_a_reason_and_starts_when_it_returns() -> None:
    state = a_machine()
    see(state, a_gpu(0))
    (job,) = queue(state, Request(gpus_on=(named(1),)))
    assert explain(state, state.jobs[JobId(job)], 0.0)[0] == NeverFits(lack=PinnedGone(gpus=(named(1),)))
    see(state, a_gpu(0), a_gpu(1))
    assert uuids(state, job) == ["g1"]


def test_a_pinned_gpu_that_is_gone_but_listed_gives_the_same_reason() -> None:
    state = a_machine()
    handle(state, NodeSampled(node=BOX, uses=((GpuUuid("g1"), VANISHED),)), 2.0)
    pinned, free = queue(state, Request(gpus_on=(named(1),)), Request(gpus=2))
    assert explain(state, state.jobs[JobId(pinned)], 0.0)[0] == NeverFits(lack=PinnedGone(gpus=(named(1),)))
    assert not isinstance(explain(state, state.jobs[JobId(free)], 0.0)[0], NeverFits)
    handle(state, NodeSampled(node=BOX, uses=((GpuUuid("g1"), replace(VANISHED, is_gone=False)),)), 3.0)
    assert reasons(state, pinned)[1] == Drained(reason=VANISHED.health, by=None)
    assert len(explain(state, state.jobs[JobId(pinned)], 0.0)) == 1, "it is there, though sick"


def test_jobs_pinned_to_one_gpu_share_a_class_regardless_of_its_index() -> None:
    assert Request(gpus_on=(named(1),)) == Request(gpus_on=(replace(named(1), index=5),))


def test_a_missing_gpu_loses_its_index_to_the_gpu_that_has_it_now() -> None:
    state = a_machine()
    node = state.nodes[BOX]
    see(state, a_gpu(0), replace(a_gpu(1), index=0))
    handle(state, NodeSampled(node=BOX, uses=((GpuUuid("g0"), VANISHED), (GpuUuid("g1"), GpuUse()))), 2.0)
    assert (node.index_now(GpuUuid("g0")), node.index_now(GpuUuid("g1"))) == (None, 0)
    assert node.index_now(GpuUuid("g7")) is None
    assert [node.last_index(GpuUuid("g7"), before) for before in (0, 7)] == [None, 7]
    wide, _ = queue(state, Request(gpus=2), Request(gpus_on=(named(1),)))
    assert reasons(state, wide) == {GpuUuid("g0"): Drained(reason=VANISHED.health, by=None), 0: Taken(jobs=(JobId(2),))}


def test_a_missing_gpu_keeps_its_index_while_no_other_gpu_has_it() -> None:
    state = a_machine()
    handle(state, NodeSampled(node=BOX, uses=((GpuUuid("g1"), VANISHED),)), 2.0)
    assert state.nodes[BOX].index_now(GpuUuid("g1")) == 1
