"""Nodes that leave and join, and GPUs that come and go."""

from __future__ import annotations

import pytest

from tarmac.core.commands import SignalJob, StartJob
from tarmac.core.events import NodeJoined
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Cancelled,
    Failed,
    Running,
    Unknown,
)
from tests.core.support.builders import (
    BOX,
    a_booking,
    a_spec,
    exited,
    lost,
    started,
    submitted,
)
from tests.core.support.scene import Scene


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
