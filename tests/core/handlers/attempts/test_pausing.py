"""Pausing jobs: what the node is told, what the time counts for, and who may have the GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.commands import PauseJob, SignalJob
from tarmac.core.events import JobsPaused, JobsResumed, NodeSampled, QueueStopped
from tarmac.core.model.gpu import GpuUse
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.status import Cancelled, Failed, Paused, Running, Stopping, Succeeded, Unknown
from tests.core.support.builders import BOX, a_spec, lost, started
from tests.core.support.scene import Scene

ONE = (JobId(1),)


def pause(scene: Scene, **more: Any) -> list[Any]:
    return list(scene.happen(JobsPaused(jobs=ONE, by="ann", **more)))


def resume(scene: Scene) -> list[Any]:
    return list(scene.happen(JobsResumed(jobs=ONE, by="ann")))


def freeze(**more: Any) -> PauseJob:
    return PauseJob(node=BOX, job=JobId(1), attempt=1, **{"is_paused": True, **more})


@pytest.fixture
def scene() -> Scene:
    scene = Scene(gpus=2)
    scene.run(gpus=2)
    return scene


def test_a_paused_job_keeps_its_gpus(scene: Scene) -> None:
    assert pause(scene) == [freeze()]
    assert scene.state_of(1) == "paused"
    assert scene.free() == []
    scene.submit(gpus=1)
    scene.pass_s(10_000)
    assert scene.states() == ["paused", "queued"]
    assert resume(scene) == [freeze(is_paused=False)]
    assert scene.states() == ["running", "queued"]


def test_what_does_not_run_is_not_paused(scene: Scene) -> None:
    scene.submit(gpus=1)
    assert scene.happen(JobsPaused(jobs=(JobId(2), JobId(77)), by="ann")) == []
    assert scene.happen(JobsResumed(jobs=(JobId(1), JobId(2), JobId(77)), by="ann")) == []
    assert scene.states() == ["running", "queued"]
    scene.stop()
    assert pause(scene) == []
    assert scene.state_of(1) == "stopping"


def test_a_job_that_starts_is_not_paused_yet() -> None:
    scene = Scene()
    scene.submit()
    assert pause(scene) == []
    assert scene.state_of(1) == "starting"


def test_pausing_twice_changes_nothing(scene: Scene) -> None:
    pause(scene)
    before = scene.status()
    assert pause(scene, is_counted=True) == []
    assert scene.status() == before


@pytest.mark.parametrize("is_counted", [True, False])
def test_the_history_says_whether_the_time_limit_continues(scene: Scene, is_counted: bool) -> None:
    pause(scene, is_counted=is_counted)
    line = next(line for line in reversed(scene.state.changes.story) if line.kind == "JobsPaused")
    assert line.detail.get("time_limit_continues", False) == is_counted


def test_paused_time_is_not_run_time(scene: Scene) -> None:
    for _ in range(2):
        pause(scene)
        scene.pass_s(100)
        before = scene.state.runtimes.elapsed_s(scene.jobs[JobId(1)], scene.now)
        scene.pass_s(100)
        assert scene.state.runtimes.elapsed_s(scene.jobs[JobId(1)], scene.now) == before
        resume(scene)
    ran_s = scene.state.runtimes.elapsed_s(scene.jobs[JobId(1)], scene.now)
    assert ran_s is not None
    assert ran_s < 20
    scene.finish()
    status = scene.status()
    assert isinstance(status, Succeeded)
    assert status.paused_s == pytest.approx(402)
    learned = scene.state.runtimes.expected_s(scene.jobs[JobId(1)].spec)
    assert learned is not None
    assert learned < 20


def test_the_node_knows_best_how_long_the_pauses_were(scene: Scene) -> None:
    pause(scene)
    scene.pass_s(100)
    resume(scene)
    scene.finish(paused_s=99.5)
    assert getattr(scene.status(), "paused_s", None) == 99.5


@pytest.mark.parametrize(
    ("more", "kind"),
    [({"exit_code": 1}, Failed), ({"exit_code": None, "signal": 9}, Failed), ({"exit_code": 0}, Succeeded)],
)
def test_a_job_may_end_while_it_is_paused(scene: Scene, more: dict[str, Any], kind: type) -> None:
    pause(scene)
    scene.pass_s(50)
    scene.finish(**more)
    status = scene.status()
    assert isinstance(status, kind)
    assert getattr(status, "paused_s", 0.0) >= 50
    assert scene.free() == [0, 1]


def test_a_paused_job_can_be_stopped(scene: Scene) -> None:
    pause(scene)
    scene.pass_s(50)
    [signal] = scene.stop(grace_s=5.0)
    assert isinstance(signal, SignalJob)
    status = scene.status()
    assert isinstance(status, Stopping)
    assert status.paused_s >= 50
    scene.finish(exit_code=None, signal=15)
    assert isinstance(scene.status(), Cancelled)


def test_a_lost_shim_ends_the_pause_for_the_books(scene: Scene) -> None:
    pause(scene)
    scene.report(replace(lost(), at=scene.now + 30))
    status = scene.status()
    assert isinstance(status, Unknown)
    assert status.paused_s >= 30


def test_a_limit_waits_for_the_pause(scene: Scene) -> None:
    limited = Scene(gpus=1)
    limited.run(a_spec(time_limit_s=1000.0))
    job, runtimes = limited.jobs[JobId(1)], limited.state.runtimes
    end = runtimes.end_of(job, limited.now)
    assert end is not None
    pause(limited)
    assert runtimes.end_of(job, limited.now) is None, "nobody knows when it goes on"
    assert runtimes.expected_end_of(job, limited.now) is None, "and no plan may rest on it"
    limited.pass_s(300)
    resume(limited)
    later = runtimes.end_of(job, limited.now)
    assert later is not None
    assert (later.rests_on, round(later.at - end.at)) == ("limit", 301)


def test_plans_do_not_go_stale_while_a_job_is_paused() -> None:
    """The scene compares all caches with what they stand for, after every event."""
    scene = Scene(gpus=2, policy="balance")
    scene.run(a_spec(), a_spec())
    scene.submit(a_spec(gpus=2, name="wide"), a_spec(name="narrow"))
    pause(scene)
    for _ in range(3):
        scene.pass_s(2000.0)
    assert scene.states() == ["paused", "running", "queued", "queued"]


def test_a_pause_that_counts_does_not_move_the_limit() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(time_limit_s=1000.0))
    job, runtimes = scene.jobs[JobId(1)], scene.state.runtimes
    end = runtimes.end_of(job, scene.now)
    assert pause(scene, is_counted=True) == [freeze(is_counted=True)]
    assert runtimes.end_of(job, scene.now) == end
    scene.pass_s(300)
    resume(scene)
    assert runtimes.end_of(job, scene.now) == end
    pause(scene)
    scene.pass_s(10)
    resume(scene)
    later = runtimes.end_of(job, scene.now)
    assert end is not None
    assert later is not None
    assert round(later.at - end.at) == 11


def test_an_expected_end_is_put_off_by_a_pause() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(name="twin"))
    scene.pass_s(100)
    scene.finish()
    scene.run(a_spec(name="twin"))
    job, runtimes = scene.jobs[JobId(2)], scene.state.runtimes
    end = runtimes.end_of(job, scene.now)
    scene.happen(JobsPaused(jobs=(JobId(2),), by="ann"))
    assert runtimes.end_of(job, scene.now) is None
    scene.pass_s(500)
    scene.happen(JobsResumed(jobs=(JobId(2),), by="ann"))
    later = runtimes.end_of(job, scene.now)
    assert end is not None
    assert later is not None
    assert (later.rests_on, round(later.at - end.at)) == ("history", 501)


def test_a_paused_job_is_not_idle() -> None:
    scene = Scene(gpus=1, idle_action="stop", idle_warn_s=60.0, idle_stop_s=60.0)
    scene.run()
    idle = NodeSampled(node=BOX, uses=((GpuUuid("box-0"), GpuUse(load=0.0)),))
    pause(scene)
    for _ in range(20):
        scene.pass_s(5)
        scene.happen(idle)
    assert scene.state_of(1) == "paused"
    resume(scene)
    scene.happen(idle)
    assert scene.state_of(1) == "running", "the time before does not count"
    for _ in range(40):
        scene.pass_s(5)
        scene.happen(idle)
    assert scene.state_of(1) == "stopping"


def test_an_urgent_job_preempts_a_paused_one() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(tier="preemptible"))
    pause(scene)
    scene.submit(a_spec(tier="urgent"))
    assert scene.state_of(1) == "stopping"
    scene.finish(exit_code=None, signal=15, was_signalled=True)
    assert scene.states() == ["queued", "starting"]


def test_a_stopped_queue_requeues_a_paused_job(scene: Scene) -> None:
    pause(scene)
    assert [type(command) for command in scene.happen(QueueStopped(by="root"))] == [SignalJob]
    assert scene.state_of(1) == "stopping"


def test_a_node_that_joins_again_learns_what_it_missed(scene: Scene) -> None:
    pause(scene)
    scene.leave()
    assert freeze() in scene.join(started())
    resume(scene)
    scene.leave()
    assert freeze(is_paused=False) in scene.join(replace(started(), is_paused=True))
    scene.leave()
    assert not [command for command in scene.join(started()) if isinstance(command, PauseJob)]
    assert isinstance(scene.status(), Running)


def test_a_pause_survives_a_reload(scene: Scene) -> None:
    from tarmac.store import rows

    pause(scene, is_counted=True)
    job = scene.jobs[JobId(1)]
    row = rows.changed_job_row(job)
    spec, (state, _, attempt, position, *counts, status, _) = rows.new_job_row(job)[10], row
    again = rows.job_of((job.id, state, attempt, position, job.submitted_at, None, None, *counts, spec, status))
    assert again.status == job.status
    assert isinstance(again.status, Paused)


def test_a_paused_job_whose_shim_is_killed_runs_on(scene: Scene) -> None:
    """Nobody could resume it, and it would hold its GPUs for ever."""
    pause(scene)
    commands = scene.report(replace(lost(), is_alive=True, at=scene.now + 30))
    status = scene.status()
    assert isinstance(status, Unknown)
    assert (status.ended_at, status.paused_s >= 30) == (None, True)
    assert freeze(is_paused=False) in commands
    assert freeze(is_paused=False) in scene.join(replace(lost(), is_alive=True)), "the node may have missed it"
    assert scene.status() == status


def test_a_job_that_was_not_paused_is_not_resumed_when_its_shim_is_killed(scene: Scene) -> None:
    assert freeze(is_paused=False) not in scene.report(replace(lost(), is_alive=True))
    pause(scene)
    assert freeze(is_paused=False) not in scene.report(lost())


def test_plans_beside_a_paused_job_stay_true_as_time_passes() -> None:
    """The scene compares what is cached with what would be found now, after every event."""
    scene = Scene(gpus=2, policy="balance")
    scene.run(a_spec(), a_spec())
    scene.submit(gpus=2)
    scene.submit(gpus=1)
    pause(scene)
    for seconds in (100, 1000, 10_000):
        scene.pass_s(seconds)
    assert scene.states() == ["paused", "running", "queued", "queued"]


def test_a_limit_that_would_not_wait_is_a_reason_not_to_pause(scene: Scene) -> None:
    scene.leave()
    scene.join(replace(started(), clock_runs_on=True))
    assert pause(scene) == []
    assert scene.state_of(1) == "running"
    assert pause(scene, is_counted=True) == [freeze(is_counted=True)]
    resume(scene)
    scene.leave()
    scene.join(started())
    assert pause(scene) == [freeze()]
