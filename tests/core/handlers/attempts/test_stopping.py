"""Jobs that are stopped, and jobs whose shim was killed."""

from __future__ import annotations

import pytest

from tarmac.core.commands import PauseJob, SignalJob
from tarmac.core.events import StopAsked
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Cancelled,
    Stopping,
    Unknown,
    is_ended,
)
from tests.core.support.builders import (
    BOX,
    a_booking,
    a_spec,
    exited,
    gone,
    killed,
    launch_failed,
    lost,
    started,
)
from tests.core.support.scene import Scene


def test_stopping_a_queued_job_cancels_it_at_once() -> None:
    scene = Scene(gpus=0)
    scene.submit(gpus=1)
    assert scene.stop() == []
    assert scene.status() == Cancelled(booking=None, pid=None, started_at=None, ended_at=scene.now)
    assert len(scene.state.queue) == 0


def test_stopping_a_running_job_signals_it_with_its_own_grace_and_keeps_its_gpus() -> None:
    scene = Scene()
    scene.submit(a_spec(grace_s=7.0))
    scene.report(started())
    assert scene.stop() == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=7.0)]
    assert scene.status() == Stopping(booking=a_booking(0), pid=41, started_at=110.0, asked_at=scene.now, grace_s=7.0)
    assert scene.free() == [1], "asking does not free anything"


def test_gpus_of_a_stopped_job_are_free_only_when_its_tree_is_gone() -> None:
    scene = Scene(gpus=1)
    scene.submit(a_spec(), a_spec())
    scene.report(started(1))
    scene.stop(1)
    assert scene.starts() == []
    scene.report(killed(1))
    assert scene.starts() == [(2, [0])]
    assert scene.status(1) == Cancelled(
        booking=a_booking(0), pid=41, started_at=110.0, ended_at=130.0, exit_code=None, signal=15
    )


def test_a_stopped_job_that_exits_is_cancelled_with_its_exit_code() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.stop()
    scene.report(exited(exit_code=3))
    status = scene.status()
    assert isinstance(status, Cancelled)
    assert (status.exit_code, status.signal) == (3, None)


def test_stopping_before_the_reported_start_signals_and_records_the_start() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    assert len(scene.stop(grace_s=2.0)) == 1
    assert scene.status() == Stopping(booking=a_booking(0), pid=None, started_at=None, asked_at=scene.now, grace_s=2.0)
    asked_at = scene.now
    scene.report(started(pid=9, at=50.0))
    assert scene.status() == Stopping(booking=a_booking(0), pid=9, started_at=50.0, asked_at=asked_at, grace_s=2.0)


def test_a_stopped_job_that_fails_to_launch_is_cancelled() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.stop()
    scene.report(launch_failed())
    assert scene.status() == Cancelled(booking=a_booking(0), pid=None, started_at=None, ended_at=130.0)


def test_a_second_stop_with_a_shorter_grace_is_sent() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.stop(grace_s=60.0)
    asked_at = scene.now
    assert scene.stop(grace_s=0.0) == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=0.0)]
    status = scene.status()
    assert isinstance(status, Stopping)
    assert (status.asked_at, status.grace_s) == (asked_at, 0.0)


def test_jobs_stopped_together_never_start_in_place_of_each_other() -> None:
    scene = Scene(gpus=2)
    scene.run(time_limit_s=100.0)
    wide, narrow = scene.submit(a_spec(gpus=2), a_spec())  # the free GPU is held back for the wide job
    assert scene.states() == ["running", "queued", "queued"]
    scene.happen(StopAsked(job=wide, by="ann", more=(narrow, JobId(99))))
    assert (scene.starts(), scene.states()) == ([], ["running", "cancelled", "cancelled"])
    assert scene.story(narrow)[-1] == "StopAsked"


def test_each_running_job_gets_the_grace_of_the_stop() -> None:
    scene = Scene(gpus=2)
    first, second = scene.run(a_spec(), a_spec())
    scene.happen(StopAsked(job=first, by="ann", grace_s=3.0, more=(second,)))
    assert [(signal.job, signal.grace_s) for signal in scene.signals()] == [(first, 3.0), (second, 3.0)]


def test_a_job_stopped_together_with_its_dependency_is_cancelled() -> None:
    scene = Scene(gpus=0)
    scene.submit(a_spec())
    scene.submit(a_spec(after=(After(job=JobId(1), on="ok"),)))
    scene.happen(StopAsked(job=JobId(1), by="ann", more=(JobId(2),)))
    assert scene.states() == ["cancelled", "cancelled"]


def test_stopping_a_missing_or_ended_job_does_nothing() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(exited())
    before = scene.status()
    assert scene.stop(1) == []
    assert scene.stop(99) == []
    assert scene.status() is before


# The shim was killed


def test_a_lost_job_with_processes_left_keeps_its_gpus_until_they_are_gone() -> None:
    scene = Scene(gpus=1)
    scene.submit(a_spec(), a_spec())
    scene.report(started(1))
    scene.report(lost(1, is_alive=True))
    assert scene.said == [], "it is not final, so the node keeps its record, and the GPU is not free"
    status = scene.status(1)
    assert status == Unknown(
        booking=a_booking(0), pid=41, started_at=110.0, ended_at=None, message=note("unknown.still_running")
    )
    assert not is_ended(status)
    scene.report(gone(1))
    assert scene.starts() == [(2, [0])]
    assert scene.status(1) == Unknown(
        booking=a_booking(0), pid=41, started_at=110.0, ended_at=140.0, message=note("unknown.gone")
    )
    assert [line.detail["message"] for line in scene.state.changes.story if "message" in line.detail] == [
        note("unknown.still_running"),
        note("unknown.gone"),
    ]


def test_a_lost_job_with_nothing_left_has_ended() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(lost())
    status = scene.status()
    assert isinstance(status, Unknown)
    assert status.ended_at == 130.0
    assert scene.forgotten() == [(1, 1)]
    assert scene.free() == [0, 1]


def test_processes_left_by_a_lost_job_can_be_stopped() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(lost(is_alive=True))
    assert scene.stop(grace_s=1.0) == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=1.0)]
    assert isinstance(scene.status(), Unknown)
    assert scene.free() == [1]


def test_a_stop_survives_the_death_of_the_shim() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started())
    scene.stop(grace_s=2.0)
    scene.leave()
    again = SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=2.0)
    assert scene.join(lost(is_alive=True)) == [again], "the node that was told is gone"
    scene.leave()
    resumed = PauseJob(node=BOX, job=JobId(1), attempt=1, is_paused=False)  # it might be frozen
    assert scene.join(lost(is_alive=True)) == [resumed, again]


def test_a_stop_of_leftover_processes_is_repeated_when_the_node_joins() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(lost(is_alive=True))
    scene.stop(grace_s=1.0)
    scene.leave()
    resumed = PauseJob(node=BOX, job=JobId(1), attempt=1, is_paused=False)
    again = SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=1.0)
    assert scene.join(lost(is_alive=True)) == [resumed, again]


def test_a_repeated_loss_report_is_recorded_once() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(lost(is_alive=True))
    scene.leave()
    scene.join(lost(is_alive=True))
    assert scene.story().count("JobLost") == 1


@pytest.mark.parametrize("state", ["starting", "running", "stopping"])
def test_a_tree_reported_gone_ends_the_job_even_without_a_loss_report(state: str) -> None:
    """A node sends only its newest report; earlier ones that were missed are lost."""
    scene = Scene()
    scene.submit(gpus=1)
    if state != "starting":
        scene.report(started())
    if state == "stopping":
        scene.stop()
    scene.join(gone())
    status = scene.status()
    assert isinstance(status, Unknown)
    assert status.ended_at == 140.0
    assert scene.free() == [0, 1]
    assert scene.forgotten() == [(1, 1)]
