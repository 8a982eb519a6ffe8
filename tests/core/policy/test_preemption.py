"""Room for higher tiers: who is asked to leave, who never is, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.commands import SignalJob
from tarmac.core.events import GpusDrained, JobExited, ProcessAdopted, QueuePaused
from tarmac.core.forecast.queue_forecast import line_up
from tarmac.core.model.gpu import Gpu, NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.status import Queued, Requeue, Stopping, Succeeded, Unknown
from tests.core.support.builders import BOX, a_spec, launch_failed, lost
from tests.core.support.scene import Scene


def guest(*, gpus: int = 1, **more: Any) -> JobSpec:
    return a_spec(gpus=gpus, tier="preemptible", **more)


def asked_to_leave(scene: Scene) -> list[int]:
    return [int(signal.job) for signal in scene.signals()]


def test_a_preemptible_job_is_asked_to_leave_with_its_own_signal_and_grace() -> None:
    scene = Scene(gpus=1)
    scene.run(guest(signal=10, grace_s=7.0))
    scene.submit(a_spec(owner="bob"))
    assert scene.signals() == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=7.0, signal=10)]
    status = scene.status(1)
    assert isinstance(status, Stopping)
    assert status.requeue == Requeue(why="preempted", for_job=JobId(2))
    assert scene.states() == ["stopping", "queued"]


def test_once_gone_it_waits_at_its_place_with_its_attempts_counted_and_its_run_is_forgotten() -> None:
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


def test_leaving_in_good_order_is_not_being_done() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.finish(1, exit_code=0)
    assert scene.states() == ["queued", "starting"]


def test_one_that_was_over_before_it_was_asked_is_over() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    ended_at = scene.now
    scene.submit(a_spec())
    scene.finish(1, exit_code=0, ended_at=ended_at)
    assert isinstance(scene.status(1), Succeeded)
    assert scene.states() == ["succeeded", "starting"]


def test_one_that_never_began_waits_again_too() -> None:
    scene = Scene(gpus=1)
    scene.submit(guest())
    scene.submit(a_spec())
    assert asked_to_leave(scene) == [1]
    scene.report(launch_failed(1))
    assert scene.states() == ["queued", "starting"]


def test_whoever_wants_it_to_end_has_the_last_word() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.stop(1)
    scene.finish(1, exit_code=None, signal=15)
    assert scene.states() == ["cancelled", "starting"]


def test_one_that_is_lost_while_it_leaves_is_unknown_and_never_started_again() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(a_spec())
    scene.report(lost(1))
    assert isinstance(scene.status(1), Unknown)
    assert scene.states() == ["unknown", "starting"]


def test_nobody_else_is_asked_while_somebody_is_leaving() -> None:
    scene = Scene(gpus=2)
    scene.run(guest(), guest())
    scene.submit(a_spec(owner="bob"))
    assert asked_to_leave(scene) == [2]
    for _ in range(3):
        scene.pass_s(100.0)
        assert asked_to_leave(scene) == []


def test_the_least_work_is_lost() -> None:
    scene = Scene(gpus=3)
    scene.run(guest())
    scene.pass_s(50.0)
    scene.run(guest())
    scene.pass_s(50.0)
    scene.run(guest())
    scene.submit(a_spec(gpus=2, owner="bob"))
    assert asked_to_leave(scene) == [3, 2]


def test_of_those_that_lose_the_same_the_newest_leaves() -> None:
    scene = Scene(gpus=2)
    scene.submit(guest(), guest())
    scene.submit(a_spec(owner="bob"))
    assert asked_to_leave(scene) == [2]


def test_work_is_counted_in_gpus() -> None:
    """A narrow one that runs for 100 s has less to lose than a wide one that runs for 60."""
    scene = Scene(gpus=3)
    scene.run(guest())
    scene.pass_s(40.0)
    scene.run(guest(gpus=2))
    scene.pass_s(60.0)
    scene.submit(a_spec(owner="bob"))
    assert asked_to_leave(scene) == [1]


def test_one_that_turns_out_not_to_be_in_the_way_stays() -> None:
    """Least work first would be the narrow one, but the wide one has to go in any case, and is enough."""
    scene = Scene(gpus=3)
    scene.run(guest(gpus=2))
    scene.pass_s(50.0)
    scene.run(guest())
    scene.submit(a_spec(gpus=2, owner="bob"))
    assert asked_to_leave(scene) == [1]


def test_urgent_ones_make_no_room_for_themselves_among_normal_ones() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec())
    scene.submit(a_spec(tier="urgent"), guest())
    assert asked_to_leave(scene) == []
    scene.finish(1)
    assert scene.starts() == [(2, [0])]


def test_preemptible_ones_do_not_push_each_other() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.submit(guest(owner="bob", priority=0))
    assert asked_to_leave(scene) == []


def test_nobody_leaves_where_that_makes_no_room_because_others_stay() -> None:
    scene = Scene(gpus=2)
    scene.run(a_spec(), guest())
    scene.submit(a_spec(gpus=2, owner="bob"))
    assert asked_to_leave(scene) == []


@pytest.mark.parametrize("obstacle", ["pinned", "drained", "too wide", "other model"])
def test_nobody_leaves_where_the_gpus_would_not_do(obstacle: str) -> None:
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
    assert asked_to_leave(scene) == []


def test_nobody_leaves_for_one_that_a_limit_keeps_from_starting() -> None:
    scene = Scene(gpus=1, max_gpus_per_job=1)
    scene.run(guest())
    scene.submit(a_spec(gpus=2))
    assert asked_to_leave(scene) == []


def test_nobody_leaves_while_the_queue_is_paused() -> None:
    scene = Scene(gpus=1)
    scene.run(guest())
    scene.happen(QueuePaused(by="root"))
    scene.submit(a_spec())
    assert asked_to_leave(scene) == []


def test_what_somebody_else_started_is_never_asked_to_leave() -> None:
    scene = Scene(gpus=1)
    scene.happen(ProcessAdopted(spec=guest(), node=BOX, pid=77, gpus=(GpuUuid("box-0"),)))
    scene.begin()
    scene.submit(a_spec(owner="bob"))
    assert scene.states() == ["running", "queued"]
    assert scene.state.preemptible == set()


def test_one_on_a_part_of_a_gpu_leaves_for_one_that_wants_the_whole() -> None:
    """MIG was switched off while it ran: the whole GPU is there, and held by way of its part."""
    scene = Scene(gpus=0)
    node = scene.state.nodes[BOX]
    part = Gpu(uuid=GpuUuid("mig-0"), index=0, parent=GpuUuid("box-0"))
    node.gpus[part.uuid] = part
    scene.run(guest())
    scene.see_gpus(1)
    scene.submit(a_spec(owner="bob"))
    assert asked_to_leave(scene) == [1]


def test_a_late_word_about_the_first_attempt_does_not_touch_the_second() -> None:
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
