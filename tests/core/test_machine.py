"""The states of a job, event by event."""

from __future__ import annotations

import pytest

from tarmac.core.commands import ForgetRun, PauseJob, SignalJob, StartJob
from tarmac.core.events import NodeJoined, Reported, StopAsked
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import After
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Cancelled,
    Failed,
    Queued,
    Running,
    Starting,
    Stopping,
    Succeeded,
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
    submitted,
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


# Stopping


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


# Nodes that leave and join


def test_a_node_that_left_gets_no_starts_and_its_jobs_keep_their_gpus() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.leave()
    scene.submit(gpus=1)
    assert scene.starts() == []
    assert scene.states() == ["starting", "queued"]
    scene.join(started(1))
    assert scene.starts() == [(2, [1])]


def test_a_start_that_never_arrived_is_sent_again_as_the_same_attempt() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.leave()
    assert scene.join() == [StartJob(job=JobId(1), attempt=1, booking=a_booking(0))]
    assert scene.story() == ["Decided", "RunMissing"]


def test_a_start_that_did_arrive_is_not_sent_again() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.leave()
    assert scene.join(started()) == []
    assert isinstance(scene.status(), Running)


def test_a_missed_exit_is_recorded_when_the_node_joins() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started())
    scene.leave()
    scene.join(exited(exit_code=9))
    assert scene.forgotten() == [(1, 1)]
    status = scene.status()
    assert isinstance(status, Failed)
    assert status.exit_code == 9


def test_a_stop_that_may_not_have_arrived_is_signalled_again() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started())
    scene.stop(grace_s=4.0)
    scene.leave()
    assert scene.join(started()) == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=4.0)]


def test_a_stopped_job_whose_start_never_arrived_is_cancelled() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.stop()
    scene.leave()
    assert scene.join() == []
    assert scene.status() == Cancelled(booking=a_booking(0), pid=None, started_at=None, ended_at=scene.now)
    assert scene.free() == [0, 1]


@pytest.mark.parametrize("state", ["running", "stopping", "unknown"])
def test_an_attempt_without_any_record_is_unknown_and_never_restarted(state: str) -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started() if state != "unknown" else lost(is_alive=True))
    if state == "stopping":
        scene.stop()
    assert scene.join() == []
    status = scene.status()
    assert isinstance(status, Unknown)
    assert status.ended_at == scene.now
    assert status.message == note("unknown.no_record")
    assert scene.free() == [0, 1]


def test_jobs_of_another_node_are_not_missed() -> None:
    scene = Scene()
    scene.submit(gpus=1)
    scene.report(started())
    assert scene.happen(submitted(a_spec(gpus=0))) != []
    before = scene.status()
    scene.happen(NodeJoined(node=NodeName("other"), cpu_job_slots=0, runs=()))
    assert scene.status() is before


def test_a_joining_node_brings_its_slots() -> None:
    scene = Scene(cpu_job_slots=0)
    scene.submit(gpus=0)
    assert scene.starts() == []
    scene.join(cpu_job_slots=1)
    assert scene.starts() == [(1, [])]


# GPUs that come and go


def test_a_gpu_that_appears_is_used_at_once() -> None:
    scene = Scene(gpus=0)
    scene.submit(gpus=1)
    assert scene.starts() == []
    scene.see_gpus(1)
    assert scene.starts() == [(1, [0])]


def test_a_gpu_that_vanished_during_a_job_and_returned_is_still_booked() -> None:
    scene = Scene(gpus=1)
    scene.submit(a_spec(), a_spec())
    scene.report(started(1))
    scene.see_gpus(0)
    scene.see_gpus(1)
    assert scene.starts() == []
    scene.report(exited(1))
    assert scene.starts() == [(2, [0])]


def test_a_job_that_ends_after_its_gpu_vanished_leaves_nothing_booked() -> None:
    scene = Scene(gpus=1)
    scene.submit(gpus=1)
    scene.see_gpus(0)
    scene.report(exited())
    assert scene.state.nodes[BOX].booked == {}
    scene.submit(gpus=1)
    assert scene.starts() == []
    scene.see_gpus(1)
    assert scene.starts() == [(2, [0])]


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
