"""A set clock: elapsed times go on as if nothing had happened."""

from dataclasses import replace

import pytest

from tarmac.core.events import JobStarted, ProgressSeen
from tarmac.core.handlers.clock import set_clock
from tarmac.core.model.ids import JobId
from tarmac.core.model.plan import EndByProgress, RestsOn
from tarmac.core.model.status import Running
from tests.core.support.builders import BOX, a_booking, a_job, a_spec, lost
from tests.core.support.scene import Scene

STEPS_S = [86400.0, -86400.0, 365 * 86400.0]


def began_ago(scene: Scene, job: int, elapsed_s: float) -> None:
    """As of the report, which takes a second to happen."""
    report = JobStarted(job=JobId(job), attempt=1, pid=41, started_at=scene.now + 1.0 - elapsed_s)
    scene.report(report, BOX)


def end_of(scene: Scene, job: int) -> tuple[float, RestsOn] | None:
    end = scene.state.runtimes.end_of(scene.jobs[JobId(job)], scene.now)
    return None if end is None else (end.at - scene.now, end.rests_on)


@pytest.mark.parametrize("step_s", STEPS_S)
def test_the_time_that_is_left_stays_the_same(step_s: float) -> None:
    scene = Scene(gpus=1)
    (job,) = scene.submit(a_spec(time_limit_s=100))
    began_ago(scene, job, 30.0)
    assert end_of(scene, job) == (70.0, "limit")
    scene.now += step_s
    set_clock(scene.state, step_s)
    assert end_of(scene, job) == (70.0, "limit")
    assert scene.state.runtimes.elapsed_s(scene.jobs[job], scene.now) == 30.0


@pytest.mark.parametrize("step_s", STEPS_S)
def test_the_time_that_is_left_by_the_progress_of_a_job_stays_the_same(step_s: float) -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    scene.happen(ProgressSeen(ends=(EndByProgress(job, 1, scene.now + 70.0),)))
    left_s = scene.state.runtimes.ends_by_progress[job] - scene.now
    scene.now += step_s
    set_clock(scene.state, step_s)
    assert scene.state.runtimes.ends_by_progress[job] - scene.now == left_s


@pytest.mark.parametrize("step_s", STEPS_S)
def test_gpu_hours_count_the_time_that_really_passed(step_s: float) -> None:
    scene = Scene(gpus=1)
    (job,) = scene.run()
    faded_s = scene.state.ledger.faded_gpu_s("ann", scene.now, scene.state.rules.half_life_s)
    scene.now += step_s
    set_clock(scene.state, step_s)
    assert scene.state.ledger.week_hours_of_owner("ann", scene.now) * 3600 < 60
    assert scene.state.ledger.faded_gpu_s("ann", scene.now, scene.state.rules.half_life_s) == pytest.approx(faded_s)
    scene.finish(job)
    assert sum(scene.state.changes.hours.values()) < 60


@pytest.mark.parametrize("lead_s", [86400.0, -86400.0])
def test_a_joining_node_says_how_long_its_jobs_have_run(lead_s: float) -> None:
    """The clock was set while the controller was away."""
    scene = Scene(gpus=1)
    (job,) = scene.submit(a_spec(time_limit_s=100))
    began_ago(scene, job, -lead_s)
    scene.join(JobStarted(job=job, attempt=1, pid=41, started_at=scene.now + 1.0 - 40.0))
    assert scene.state.runtimes.elapsed_s(scene.jobs[job], scene.now) == 40.0
    assert end_of(scene, job) == (60.0, "limit")
    assert scene.state.ledger.week_hours_of_owner("ann", scene.now) * 3600 < 100


def test_gpu_hours_of_a_loaded_job_are_corrected_by_its_node() -> None:
    """The clock was set forward by a day while the controller was away."""
    before = Scene(gpus=1)
    (job,) = before.run()
    scene = Scene(gpus=1)
    scene.now = before.now + 86400.0
    scene.add(before.jobs[job])
    scene.state.now = scene.now
    report = JobStarted(job=job, attempt=1, pid=41, started_at=scene.now - 10.0)
    assert scene.state.ledger.week_hours_of_owner("ann", scene.now) > 23
    scene.join(report)
    assert scene.state.ledger.week_hours_of_owner("ann", scene.now) * 3600 < 60


def test_the_next_attempt_begins_anew() -> None:
    scene = Scene(gpus=1)
    (job,) = scene.submit(a_spec(time_limit_s=100))
    began_ago(scene, job, 30.0)
    scene.finish(job)
    assert scene.state.runtimes.began == {}


@pytest.mark.parametrize("lead_s", [86400.0, -86400.0])
def test_a_job_that_ended_while_the_controller_was_away_counts_the_time_it_ran(lead_s: float) -> None:
    """The clock was set meanwhile, and the end is the first report."""
    scene = Scene(gpus=1)
    scene.add(a_job(status=Running(booking=a_booking(0), pid=41, started_at=scene.now + lead_s)))
    scene.finish(1, started_at=scene.now + 1.0 - 40.0)
    assert sum(scene.state.changes.hours.values()) == pytest.approx(40.0)


@pytest.mark.parametrize("lead_s", [86400.0, -86400.0])
def test_a_joining_node_says_how_long_a_job_without_its_shim_has_run(lead_s: float) -> None:
    scene = Scene(gpus=1)
    (job,) = scene.submit(a_spec())
    began_ago(scene, job, -lead_s)
    scene.join(replace(lost(job, is_alive=True), started_at=scene.now + 1.0 - 40.0))
    assert scene.state.runtimes.elapsed_s(scene.jobs[job], scene.now) == 40.0
