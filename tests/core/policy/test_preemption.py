"""Preemption for higher tiers: which jobs are preempted, which never are, and what happens to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.commands import SignalJob
from tarmac.core.events import GpusDrained, JobExited, ProcessAdopted, QueuePaused, QueueStopped
from tarmac.core.forecast.queue_forecast import line_up
from tarmac.core.model.gpu import Gpu, NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.status import Queued, Requeue, Stopping, Succeeded, Unknown
from tests.core.support.builders import BOX, a_spec, launch_failed, lost
from tests.core.support.scene import Scene


def guest(*, gpus: int = 1, **more: Any) -> JobSpec:
    return a_spec(gpus=gpus, tier="preemptible", **more)


def asked_to_stop(scene: Scene) -> list[int]:
    return [int(signal.job) for signal in scene.signals()]


def test_a_preempted_job_gets_its_own_signal_and_grace() -> None:
    scene = Scene(gpus=1)
    scene.run(guest(signal=10, grace_s=7.0))
    scene.submit(a_spec(owner="bob"))
    assert scene.signals() == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=7.0, signal=10)]
    status = scene.status(1)
    assert isinstance(status, Stopping)
    assert status.requeue == Requeue(why="preempted", for_job=JobId(2))
    assert scene.states() == ["stopping", "queued"]


def test_a_preempted_job_is_requeued_at_its_place_and_its_attempt_forgotten() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(guest(), guest(), a_spec(owner="bob"))
    scene.finish(1, exit_code=None, signal=15)
    assert scene.forgotten() == [(1, 1)]
    assert scene.starts() == [(4, [0])]
    assert scene.status(1) == Queued(since=scene.now, requeued=Requeue(why="preempted", for_job=JobId(4)))
    assert scene.jobs[JobId(1)].attempt == 1
    assert line_up(scene.state, scene.now) == [1, 2, 3]
    scene.finish(4)
    assert scene.starts() == [(1, [0])]
    assert scene.jobs[JobId(1)].attempt == 2


@pytest.mark.parametrize("behind_s", [-3600.0, 0.0, 3600.0], ids="clock {:+.0f} s".format)
def test_exit_code_0_after_preemption_is_not_success_whatever_the_clock_of_the_node(behind_s: float) -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.finish(1, exit_code=0, was_signalled=True, ended_at=scene.now - behind_s)
    assert scene.states() == ["queued", "starting"]


@pytest.mark.parametrize("behind_s", [-3600.0, 0.0, 3600.0], ids="clock {:+.0f} s".format)
def test_a_job_that_ended_before_it_was_signalled_has_ended_whatever_the_clock_of_the_node(behind_s: float) -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.finish(1, exit_code=0, was_signalled=False, ended_at=scene.now - behind_s)
    assert isinstance(scene.status(1), Succeeded)
    assert scene.states() == ["succeeded", "starting"]


def test_a_preempted_job_is_requeued_if_its_node_cannot_say_when_it_ended() -> None:
    """An older shim does not say; a job that runs again is better than one that never does."""
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.finish(1, exit_code=0, was_signalled=None, ended_at=scene.now - 3600.0)
    assert scene.states() == ["queued", "starting"]


@pytest.mark.parametrize("behind_s", [-3600.0, 3600.0], ids="clock {:+.0f} s".format)
def test_a_job_of_a_stopped_queue_returns_whatever_the_clock_of_the_node(behind_s: float) -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec())
    scene.happen(QueueStopped(by="ann"))
    scene.finish(1, exit_code=0, was_signalled=True, ended_at=scene.now - behind_s)
    assert scene.states() == ["queued"]


def test_a_preempted_job_that_never_started_is_requeued() -> None:
    scene = Scene(gpus=1)
    scene.submit(guest())
    scene.submit(a_spec())
    assert asked_to_stop(scene) == [1]
    scene.report(launch_failed(1))
    assert scene.states() == ["queued", "starting"]


def test_a_stop_by_a_person_overrides_a_preemption() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.stop(1)
    scene.finish(1, exit_code=None, signal=15)
    assert scene.states() == ["cancelled", "starting"]


def test_a_job_lost_during_preemption_is_unknown_and_never_restarted() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.report(lost(1))
    assert isinstance(scene.status(1), Unknown)
    assert scene.states() == ["unknown", "starting"]


def test_no_further_job_is_preempted_while_one_is_stopping() -> None:
    scene = Scene(gpus=2)
    scene.run(guest(), guest())
    scene.submit(a_spec(owner="bob"))
    assert asked_to_stop(scene) == [2]
    for _ in range(3):
        scene.pass_s(100.0)
        assert asked_to_stop(scene) == []


def test_preemption_loses_the_least_work() -> None:
    scene = Scene(gpus=3)
    scene.run(guest())
    scene.pass_s(50.0)
    scene.run(guest())
    scene.pass_s(50.0)
    scene.run(guest())
    scene.submit(a_spec(gpus=2, owner="bob"))
    assert asked_to_stop(scene) == [3, 2]


def test_among_equal_losses_the_newest_job_is_preempted() -> None:
    scene = Scene(gpus=2)
    scene.submit(guest(), guest())
    scene.submit(a_spec(owner="bob"))
    assert asked_to_stop(scene) == [2]


def test_lost_work_counts_in_gpu_time() -> None:
    """A narrow job that has run for 100 s loses less work than a wide one that has run for 60 s."""
    scene = Scene(gpus=3)
    scene.run(guest())
    scene.pass_s(40.0)
    scene.run(guest(gpus=2))
    scene.pass_s(60.0)
    scene.submit(a_spec(owner="bob"))
    assert asked_to_stop(scene) == [1]


def test_jobs_that_need_not_be_preempted_are_spared() -> None:
    """The narrow job loses least work, but the wide one must be preempted anyway, and suffices."""
    scene = Scene(gpus=3)
    scene.run(guest(gpus=2))
    scene.pass_s(50.0)
    scene.run(guest())
    scene.submit(a_spec(gpus=2, owner="bob"))
    assert asked_to_stop(scene) == [1]


def test_urgent_jobs_do_not_preempt_normal_jobs() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec())
    scene.submit(a_spec(tier="urgent"), guest())
    assert asked_to_stop(scene) == []
    scene.finish(1)
    assert scene.starts() == [(2, [0])]


def test_preemptible_jobs_do_not_preempt_each_other() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(guest(owner="bob", priority=0))
    assert asked_to_stop(scene) == []


def test_no_job_is_preempted_if_the_others_block_the_start() -> None:
    scene = Scene(gpus=2)
    scene.run(a_spec(), guest())
    scene.submit(a_spec(gpus=2, owner="bob"))
    assert asked_to_stop(scene) == []


@pytest.mark.parametrize("obstacle", ["pinned", "drained", "too wide", "other model"])
def test_no_job_is_preempted_from_unsuitable_gpus(obstacle: str) -> None:
    scene = Scene(gpus=2)
    first = NamedGpu(uuid=GpuUuid("box-0"), index=0)
    scene.run(a_spec(), guest())
    asked = {
        "pinned": Request(gpus_on=(first,)),
        "drained": Request(),
        "too wide": Request(gpus=3),
        "other model": Request(gpu_models=("h100",)),
    }[obstacle]
    if obstacle == "drained":
        scene.happen(GpusDrained(node=BOX, gpus=(GpuUuid("box-1"),), by="root", reason="fan"))
    scene.submit(replace(a_spec(owner="bob"), request=asked))
    assert asked_to_stop(scene) == []


def test_no_job_is_preempted_for_a_job_blocked_by_a_limit() -> None:
    scene = Scene(gpus=1, max_gpus_per_job=1)
    scene.run(guest())
    scene.submit(a_spec(gpus=2))
    assert asked_to_stop(scene) == []


def test_no_job_is_preempted_while_the_queue_is_paused() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.happen(QueuePaused(by="root"))
    scene.submit(a_spec())
    assert asked_to_stop(scene) == []


def test_adopted_jobs_are_never_preempted() -> None:
    scene = Scene(gpus=1)
    scene.happen(ProcessAdopted(spec=guest(), node=BOX, pid=77, gpus=(GpuUuid("box-0"),)))
    scene.begin()
    scene.submit(a_spec(owner="bob"))
    assert scene.states() == ["running", "queued"]
    assert scene.state.preemptible == set()


def test_a_sharing_job_is_preempted_for_an_exclusive_job() -> None:
    """MIG was switched off during the job: the whole GPU is listed, and held through its instance."""
    scene = Scene(gpus=0)
    node = scene.state.nodes[BOX]
    part = Gpu(uuid=GpuUuid("mig-0"), index=0, parent=GpuUuid("box-0"))
    node.gpus[part.uuid] = part
    scene.run(guest())
    scene.see_gpus(1)
    scene.submit(a_spec(owner="bob"))
    assert asked_to_stop(scene) == [1]


def test_a_late_report_of_the_first_attempt_does_not_affect_the_second() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.finish(1, exit_code=None, signal=15)
    scene.finish(2)
    scene.begin()
    assert scene.jobs[JobId(1)].attempt == 2
    old = JobExited(job=JobId(1), attempt=1, exit_code=0, signal=None, pid=41, started_at=1.0, ended_at=2.0)
    scene.report(old)
    assert scene.state_of(1) == "running"
    assert scene.forgotten() == [(1, 1)]
