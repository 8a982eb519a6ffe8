"""The states of a job, event by event."""

from __future__ import annotations

import pytest

from tarmac.core.commands import ForgetRun, StartJob
from tarmac.core.events import Reported, StopAsked
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.status import (
    Cancelled,
    Failed,
    Queued,
    Running,
    Starting,
    Succeeded,
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


def test_a_submitted_job_starts_at_once_on_the_lowest_free_gpus() -> None:
    scene = Scene(gpus=3)
    scene.submit(gpus=2)
    assert scene.said == [StartJob(job=JobId(1), attempt=1, booking=a_booking(0, 1))]
    assert scene.status() == Starting(booking=a_booking(0, 1), decided_at=scene.now)


def test_ids_count_up_in_the_order_of_the_submit_and_positions_follow() -> None:
    scene = Scene(gpus=0)
    assert scene.submit(a_spec(name="a"), a_spec(name="b")) == [1, 2]
    assert scene.submit(a_spec(name="c")) == [3]
    assert [(job.spec.name, job.position) for job in scene.jobs.values()] == [("a", 1), ("b", 2), ("c", 3)]
    assert {job.submitted_at for job in scene.jobs.values()} == {1001.0, 1002.0}


def test_a_submit_reaches_the_store_as_new_jobs() -> None:
    scene = Scene(gpus=0)
    scene.submit(a_spec(), a_spec())
    changes = scene.state.take_changes()
    assert [job.id for job in changes.new] == [1, 2]
    assert not changes.changed
    assert not scene.state.take_changes(), "changes are taken once"


def test_every_transition_reaches_the_store_with_a_story_line() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started())
    scene.report(exited())
    changes = scene.state.take_changes()
    assert changes.changed == {1: scene.jobs[JobId(1)]}
    told = [(line.kind, line.attempt, line.at, line.detail) for line in changes.story]
    assert told == [
        ("Decided", 1, 1001.0, {"node": "box", "gpus": [0]}),
        ("JobStarted", 1, 1002.0, {"pid": 41}),
        ("JobExited", 1, 130.0, {"exit_code": 0, "signal": None}),  # when it happened, not when it was reported
    ]


def test_a_reported_start_makes_the_job_running() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    assert scene.report(started(pid=77, at=5.5)) == []
    assert scene.status() == Running(booking=a_booking(0), pid=77, started_at=5.5)


def test_exit_zero_is_success_and_frees_the_gpus() -> None:
    scene = Scene()
    scene.submit(gpus=2)
    scene.report(started())
    assert scene.free() == []
    assert scene.report(exited()) == [ForgetRun(node=BOX, job=JobId(1), attempt=1)]
    assert scene.status() == Succeeded(booking=a_booking(0, 1), pid=41, started_at=110.0, ended_at=130.0)
    assert scene.free() == [0, 1]
    assert JobId(1) not in scene.state.jobs, "the store remembers what has ended"


@pytest.mark.parametrize("code", [1, 2, 42, 255])
def test_any_other_exit_code_is_a_failure_and_recorded(code: int) -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(exited(exit_code=code))
    assert scene.status() == Failed(
        booking=a_booking(0), pid=41, started_at=110.0, ended_at=130.0, reason="exit", exit_code=code
    )


def test_death_by_a_signal_is_a_failure_with_that_signal() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(killed(signal=11))
    assert scene.status() == Failed(
        booking=a_booking(0), pid=41, started_at=110.0, ended_at=130.0, reason="signal", signal=11
    )


@pytest.mark.parametrize("is_reported_running", [False, True])
def test_a_launch_failure_has_the_nodes_message(is_reported_running: bool) -> None:
    scene = Scene()
    scene.submit(gpus=1)
    if is_reported_running:
        scene.report(started())
    scene.report(launch_failed(message="train.py: not found"))
    assert scene.status() == Failed(
        booking=a_booking(0), pid=None, started_at=None, ended_at=130.0, reason="launch", message="train.py: not found"
    )


def test_the_gpu_of_an_ended_job_goes_to_the_next_in_the_same_event() -> None:
    scene = Scene(gpus=1)
    scene.submit(a_spec(), a_spec())
    assert scene.starts() == [(1, [0])]
    scene.report(exited(1))
    assert scene.starts() == [(2, [0])]


def test_an_exit_that_overtakes_its_start_counts_and_the_late_start_does_not() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(exited(exit_code=7))
    assert isinstance(scene.status(), Failed)
    assert scene.report(started()) == []
    assert isinstance(scene.status(), Failed)
    assert scene.free() == [0, 1]


def test_a_repeated_start_report_is_recorded_once() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started())
    before = scene.status()
    scene.join(started(pid=99))
    assert scene.status() is before
    assert scene.story() == ["Decided", "JobStarted"]


def test_a_late_start_does_not_make_a_lost_job_run_again() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(lost(is_alive=True))
    before = scene.status()
    scene.report(started())
    assert scene.status() is before


@pytest.mark.parametrize("attempt", [0, 2])
@pytest.mark.parametrize("report", [started, exited, launch_failed, lost, gone])
def test_a_report_of_another_attempt_changes_nothing(report: type, attempt: int) -> None:
    scene = Scene()
    scene.submit(gpus=1)
    before = scene.status()
    scene.report(report(attempt=attempt))
    assert scene.status() is before
    assert scene.story() == ["Decided"]


@pytest.mark.parametrize("report", [started, exited, launch_failed, lost, gone])
def test_a_report_from_a_node_the_job_is_not_on_changes_nothing(report: type) -> None:
    scene = Scene()
    scene.submit(gpus=1)
    before = scene.status()
    assert scene.report(report(), node=NodeName("other")) == [], "nor may that node drop what is not kept here"
    assert scene.status() is before


def test_final_reports_of_ended_jobs_may_be_forgotten_others_need_no_answer() -> None:
    scene = Scene()
    assert scene.report(exited(99)) == [ForgetRun(node=BOX, job=JobId(99), attempt=1)]
    assert scene.report(started(99)) == []
    assert scene.report(lost(99, is_alive=True)) == []


def test_the_end_of_an_earlier_attempt_may_be_forgotten_but_not_of_a_later_one() -> None:
    """With an outdated database (a restored backup), the guard against a second start must remain."""
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(exited(attempt=0))
    assert scene.forgotten() == [(1, 0)]
    scene.report(exited(attempt=2))
    assert scene.forgotten() == []


# Jobs without GPUs


def test_jobs_without_gpus_take_slots_and_give_them_back() -> None:
    scene = Scene(gpus=0, cpu_job_slots=1)
    scene.submit(a_spec(gpus=0), a_spec(gpus=0))
    assert scene.starts() == [(1, [])]
    scene.stop(1)
    assert scene.starts() == []
    scene.report(killed(1))
    assert scene.starts() == [(2, [])]


def test_jobs_without_gpus_do_not_wait_for_gpus_nor_take_any() -> None:
    scene = Scene(gpus=1)
    scene.submit(a_spec(gpus=1), a_spec(gpus=1), a_spec(gpus=0))
    assert scene.starts() == [(1, [0]), (3, [])]


# Time comes in as data


def test_a_clock_that_jumps_back_changes_no_decision() -> None:
    scene = Scene(gpus=1)
    scene.now = 5000.0
    scene.submit(a_spec(), a_spec())
    handle(scene.state, Reported(node=BOX, report=started(1)), now=-3.0)
    handle(scene.state, StopAsked(job=JobId(1), by="ann"), now=0.0)
    commands = handle(scene.state, Reported(node=BOX, report=killed(1)), now=-1e9)
    assert commands[-1] == StartJob(job=JobId(2), attempt=1, booking=a_booking(0))
    assert isinstance(scene.status(1), Cancelled)


def test_loading_restores_the_queue_and_the_bookings() -> None:
    before = Scene(gpus=1)
    before.submit(a_spec(), a_spec())
    after = Scene(gpus=1)
    for job in before.jobs.values():
        after.add(job)
    assert after.free() == []
    assert list(after.state.queue.in_order()) == [2]
    assert isinstance(after.status(2), Queued)
    assert after.submit(gpus=1) == [3], "ids go on where they were"
