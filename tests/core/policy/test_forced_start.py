"""A forced start ignores order, holds, limits and whether GPUs are free, but not the job's requirements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import GpusDrained, JobsHeld, StartForced
from tarmac.core.invariants import invariants
from tarmac.core.model.gpu import ForeignProcess, Gpu, GpuUse, NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.rules import PerName
from tarmac.core.policy.forced_start import double_booked, plan
from tests.core.support.builders import BOX, a_node, a_spec
from tests.core.support.scene import Scene

GIB = 2**30


def asking(**asked: object) -> JobSpec:
    return replace(a_spec(), request=Request(**asked))  # type: ignore[arg-type]


def planned(scene: Scene, job: int, *wanted: str) -> list[int] | None:
    booking = plan(scene.state, scene.jobs[JobId(job)], tuple(map(GpuUuid, wanted)))
    return None if booking is None else [gpu.index for gpu in booking.gpus]


def conflicts(scene: Scene, job: int, *wanted: str) -> list[tuple[int, tuple[int, ...]]]:
    booking = plan(scene.state, scene.jobs[JobId(job)], tuple(map(GpuUuid, wanted)))
    assert booking is not None
    return [(gpu.index, jobs) for gpu, jobs in double_booked(scene.state, booking)]


def force(scene: Scene, job: int, *wanted: str) -> None:
    booking = plan(scene.state, scene.jobs[JobId(job)], tuple(map(GpuUuid, wanted)))
    assert booking is not None
    gpus = tuple(gpu.uuid for gpu in booking.gpus)
    scene.happen(StartForced(job=JobId(job), node=booking.node, gpus=gpus, by="ann"))


def test_a_forced_start_ignores_order_and_limits() -> None:
    scene = Scene(gpus=2, max_gpus_per_user=PerName(1.0))
    scene.run()
    scene.submit(a_spec(), a_spec())
    force(scene, 3)
    assert scene.starts() == [(3, [1])]
    assert scene.states() == ["running", "queued", "starting"]
    assert scene.jobs[JobId(3)].attempt == 1
    assert scene.story(3) == ["StartForced"]
    assert not scene.state.nodes[BOX].booked[GpuUuid("box-1")][JobId(3)].is_forced, "nobody else has this GPU"


@pytest.mark.parametrize("entry", ["held", "draft"])
def test_held_jobs_and_drafts_can_be_forced(entry: str) -> None:
    scene = Scene()
    scene.submit_as(a_spec(), entry=entry, by="bob")
    force(scene, 1)
    assert scene.states() == ["starting"]


def test_a_forced_start_ignores_begin_time_and_max_running() -> None:
    scene = Scene(gpus=3)
    scene.submit_as(a_spec(max_running=1), a_spec(max_running=1), is_group=True)
    scene.submit(a_spec(begin_at=1e9))
    force(scene, 2)
    force(scene, 3)
    assert scene.at_work() == [1, 2, 3]


def test_running_and_ended_jobs_cannot_be_forced() -> None:
    scene = Scene()
    scene.run()
    for job in (1, 99):
        scene.happen(StartForced(job=JobId(job), node=BOX, gpus=(GpuUuid("box-1"),), by="ann"))
        assert scene.starts() == []


def test_a_forced_start_respects_requirements() -> None:
    scene = Scene(gpus=3)
    node = scene.state.nodes[BOX]
    node.gpus = {uuid: replace(gpu, model="H100" if gpu.index == 2 else "T4") for uuid, gpu in node.gpus.items()}
    pin = NamedGpu(uuid=GpuUuid("box-1"), index=1)
    scene.submit_as(
        asking(gpu_models=("h100",)), asking(gpus_on=(pin,)), asking(exclude_gpus=(pin,)),
        asking(gpus=2, gpu_models=("h100",)), asking(gpus=4), entry="held",
    )  # fmt: skip
    assert [planned(scene, job) for job in range(1, 6)] == [[2], [1], [0], None, None]


def test_a_forced_start_uses_the_named_gpus() -> None:
    scene = Scene(gpus=3)
    scene.submit_as(a_spec(), a_spec(gpus=2), entry="held")
    assert planned(scene, 1, "box-2") == [2]
    assert planned(scene, 2, "box-2") is None
    assert planned(scene, 1, "no such") is None


def test_no_forced_start_without_a_connected_node() -> None:
    scene = Scene()
    scene.submit_as(a_spec(), entry="held")
    scene.leave()
    assert planned(scene, 1) is None


def test_a_forced_start_prefers_the_least_disturbance() -> None:
    """Prefer a free GPU, then a drained one or one with foreign processes, then one that another job holds."""
    scene = Scene(gpus=3)
    scene.submit_as(a_spec(), entry="held")
    pin = NamedGpu(uuid=GpuUuid("box-0"), index=0)
    scene.run(asking(gpus_on=(pin,)))
    assert planned(scene, 1) == [1]
    scene.happen(GpusDrained(node=BOX, gpus=(GpuUuid("box-1"),), by="root", reason="fan"))
    assert planned(scene, 1) == [2]
    use = GpuUse(outside_bytes=10**15, foreign_processes=(ForeignProcess(pid=7),), load=1.0)
    scene.state.nodes[BOX].uses[GpuUuid("box-2")] = use
    assert planned(scene, 1) == [1]
    assert conflicts(scene, 1) == []


def test_a_forced_start_reports_and_double_books_a_held_gpu() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit()
    assert conflicts(scene, 2) == [(0, (1,))]
    force(scene, 2)
    assert scene.at_work() == [1, 2]
    booked = scene.state.nodes[BOX].booked[GpuUuid("box-0")]
    assert [booked[JobId(job)].is_forced for job in (1, 2)] == [False, True]
    assert invariants.violations(scene.state) == []


def test_only_a_forced_job_may_double_book_a_gpu() -> None:
    """The invariant check detects a double booking that was not forced."""
    scene = Scene(gpus=1)
    scene.run()
    scene.submit()
    force(scene, 2)
    held = scene.state.nodes[BOX].booked[GpuUuid("box-0")]
    held[JobId(2)] = replace(held[JobId(2)], is_forced=False)
    assert any("booked whole and by others too" in said for said in invariants.violations(scene.state))


@pytest.mark.parametrize("first_to_go", [1, 2])
def test_the_next_job_waits_until_both_jobs_have_ended(first_to_go: int) -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit()
    force(scene, 2)
    scene.begin()
    scene.submit(a_spec(owner="bob"))
    scene.finish(first_to_go)
    assert scene.starts() == []
    scene.finish(3 - first_to_go)
    assert scene.starts() == [(3, [0])]


def with_a_shared_gpu() -> Scene:
    scene = Scene(gpus=0)
    node = a_node(gpus=0)
    uuid = GpuUuid("box-0")
    node.gpus = {uuid: Gpu(uuid=uuid, index=0, memory_total_bytes=40 * GIB)}
    scene.state.nodes[BOX].gpus = node.gpus
    scene.run(asking(gpu_memory_bytes=30 * GIB))
    return scene


def test_sharing_jobs_do_not_conflict_while_memory_is_left() -> None:
    scene = with_a_shared_gpu()
    scene.submit_as(asking(gpu_memory_bytes=10 * GIB), asking(gpu_memory_bytes=11 * GIB), a_spec(), entry="held")
    assert [conflicts(scene, job) for job in (2, 3, 4)] == [[], [(0, (1,))], [(0, (1,))]]


def test_memory_of_a_forced_job_counts_for_the_next_job() -> None:
    scene = with_a_shared_gpu()
    scene.submit_as(asking(gpu_memory_bytes=20 * GIB), entry="held")
    force(scene, 2)
    assert invariants.violations(scene.state) == []
    scene.submit(asking(gpu_memory_bytes=1 * GIB))
    assert scene.at_work() == [1, 2]
    scene.finish(1)
    assert scene.starts() == [(3, [0])]


def test_a_forced_held_job_can_be_cancelled() -> None:
    scene = Scene()
    scene.submit_as(a_spec(), entry="held", by="ann")
    force(scene, 1)
    scene.happen(JobsHeld(jobs=(JobId(1),), by="ann"))
    scene.stop(1)
    scene.finish(1, exit_code=None, signal=15)
    assert scene.states() == ["cancelled"]
