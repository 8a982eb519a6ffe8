"""Ends by the progress that jobs print: noted while an attempt runs, and forgotten with it."""

from math import inf, nan

import pytest

from tarmac.core.commands import StartJob
from tarmac.core.events import JobStarted, ProgressSeen, QueueStopped, TimePassed
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.core.model.plan import EndByProgress
from tests.core.support.builders import BOX, a_spec
from tests.core.support.scene import Scene

DAY_S = 86400.0


def see(scene: Scene, job: int, left_s: float | None, *, attempt: int = 1) -> float | None:
    """Report progress, and return how much time is left by what the core noted."""
    at = None if left_s is None else scene.now + 1.0 + left_s
    scene.happen(ProgressSeen(ends=(EndByProgress(JobId(job), attempt, at),)))
    noted = scene.state.runtimes.ends_by_progress.get(JobId(job))
    return None if noted is None else noted - scene.now


def ends(scene: Scene) -> dict[JobId, float]:
    return scene.state.runtimes.ends_by_progress


def test_the_newest_end_counts() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    assert see(scene, job, 3600.0) == 3600.0
    assert see(scene, job, 7200.0) == 7200.0
    assert see(scene, job, 60.0) == 60.0
    assert see(scene, job, None) is None, "it no longer prints a bar"


@pytest.mark.parametrize("left_s", [0.0, -1.0, -1e12, 366 * DAY_S, 3000 * 365 * DAY_S, inf, -inf, nan])
def test_an_end_that_cannot_be_true_counts_as_none(left_s: float) -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    assert see(scene, job, left_s) is None
    see(scene, job, 3600.0)
    assert see(scene, job, left_s) is None, "the earlier end is not believed any longer either"


def test_readings_of_other_attempts_and_of_unknown_jobs_are_ignored() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    (waiting,) = scene.submit()
    see(scene, job, 3600.0)
    for number, attempt in [(job, 0), (job, 2), (waiting, 0), (99, 1)]:
        see(scene, number, 60.0, attempt=attempt)
    assert list(ends(scene)) == [job]
    assert ends(scene)[job] > scene.now + 3000.0


def test_several_jobs_are_noted_at_once() -> None:
    scene = Scene(gpus=2)
    one, two = scene.run(a_spec(), a_spec())
    at = scene.now + 100.0
    scene.happen(ProgressSeen(ends=(EndByProgress(one, 1, at), EndByProgress(two, 1, at + 5.0))))
    assert ends(scene) == {one: at, two: at + 5.0}


@pytest.mark.parametrize("exit_code", [0, 1])
def test_an_end_is_forgotten_with_the_attempt(exit_code: int) -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    see(scene, job, 3600.0)
    scene.finish(job, exit_code=exit_code)
    assert ends(scene) == {}


def test_a_job_that_is_asked_to_stop_ends_by_its_grace_period() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    see(scene, job, 3600.0)
    scene.stop(job)
    assert ends(scene) == {}
    assert see(scene, job, 3600.0) is None


def test_the_next_attempt_begins_without_the_end_of_the_last() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    see(scene, job, 3600.0)
    scene.happen(QueueStopped(by="root"))
    scene.finish(job, exit_code=None, signal=15, was_signalled=True)
    assert scene.state_of(job) == "queued"
    assert ends(scene) == {}
    assert see(scene, job, 3600.0) is None


def test_a_node_that_comes_back_changes_nothing() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    see(scene, job, 3600.0)
    scene.leave()
    assert see(scene, job, 1800.0) == 1800.0
    scene.join(JobStarted(job=job, attempt=1, pid=41, started_at=scene.now))
    assert list(ends(scene)) == [job]


def test_only_a_changed_end_makes_plans_be_worked_out_again() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    at = scene.now + 3600.0
    read = scene.state.fit_cache.touched.position
    scene.happen(ProgressSeen(ends=(EndByProgress(job, 1, at),)))
    assert scene.state.fit_cache.touched.since(read) == [BOX]
    read = scene.state.fit_cache.touched.position
    scene.happen(ProgressSeen(ends=(EndByProgress(job, 1, at), EndByProgress(JobId(99), 1, at))))
    assert scene.state.fit_cache.touched.since(read) == []


def test_nothing_is_left_to_start_after_a_changed_end() -> None:
    """Plans follow the new end in the same event, so that `why` and the next pass agree."""
    scene = Scene(gpus=2)
    (long, _) = scene.run(a_spec(), a_spec(time_limit_s=50))
    scene.submit(a_spec(gpus=2))
    scene.submit(a_spec(time_limit_s=600))
    for left_s in (30.0, 7200.0, None, 60.0):
        see(scene, long, left_s)
        said = handle(scene.state, TimePassed(), scene.now)
        assert not [command for command in said if isinstance(command, StartJob)]


def test_a_promise_rests_on_limits_whatever_a_bar_says() -> None:
    """By its bar the first job ends in a moment. A job that ends before its limit may pass the wide one anyway."""
    scene = Scene(gpus=2)
    scene.run(a_spec(time_limit_s=1000.0))
    scene.happen(ProgressSeen(ends=(EndByProgress(JobId(1), 1, scene.now + 10.0),)))
    wide, late, short = (
        scene.submit(spec)[0]
        for spec in (a_spec(gpus=2, time_limit_s=100.0), a_spec(time_limit_s=2000.0), a_spec(time_limit_s=500.0))
    )
    assert [scene.state_of(job) for job in (wide, late, short)] == ["queued", "queued", "starting"]
