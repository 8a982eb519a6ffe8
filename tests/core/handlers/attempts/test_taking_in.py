"""Attempts that a node reports and the database does not know become jobs that hold their GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.commands import ForgetRun, SignalJob, StartJob
from tarmac.core.events import NodeJoined, RunOrigin, RunReport
from tarmac.core.model.ids import JobId
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Cancelled,
    Draft,
    Failed,
    Held,
    Queued,
    RunName,
    Running,
    Starting,
    Status,
    Succeeded,
    Unknown,
)
from tests.core.support.builders import (
    BOX,
    a_booking,
    a_job,
    a_spec,
    a_status,
    exited,
    free_gpus,
    gone,
    launch_failed,
    lost,
    started,
)
from tests.core.support.scene import Scene

THEN = 50.0  # when the job was submitted, according to the node


def origin(job: int = 1, *gpus: int, attempt: int = 1, at: float = THEN, **spec: Any) -> RunOrigin:
    asked = a_spec(gpus=len(gpus), name="found", **spec)
    run = RunName(JobId(job), attempt)
    return RunOrigin(run=run, submitted_at=at, spec=asked, gpus=a_booking(*gpus).gpus)


def join(scene: Scene, *runs: tuple[RunReport, RunOrigin], free: bool = True, **more: Any) -> None:
    free_ids = frozenset(origin.run.job for _, origin in runs) if free else frozenset[JobId]()
    scene.happen(
        NodeJoined(
            node=BOX,
            cpu_job_slots=2,
            runs=tuple(report for report, _ in runs),
            origins=tuple(origin for _, origin in runs),
            **{"free_ids": free_ids, **more},
        )
    )


def test_a_live_attempt_is_taken_in_with_its_gpus_before_anything_starts() -> None:
    scene = Scene(gpus=2)
    scene.add(a_job(9, gpus=2))
    join(scene, (started(4), origin(4, 1, owner="bob")))
    job = scene.state.jobs[JobId(4)]
    assert isinstance(job.status, Unknown)
    assert (job.spec.name, job.spec.owner, job.submitted_at, job.attempt) == ("found", "bob", THEN, 1)
    assert (job.status.pid, job.status.message) == (41, note("unknown.taken_in", node=BOX))
    assert [gpu.index for gpu in free_gpus(scene.state.nodes[BOX])] == [0]
    assert not [command for command in scene.said if isinstance(command, StartJob)]


def test_it_ends_with_its_exit_code() -> None:
    scene = Scene()
    join(scene, (started(4), origin(4, 0)))
    scene.report(exited(4, exit_code=7))
    status = scene.jobs[JobId(4)].status
    assert isinstance(status, Failed)
    assert status.exit_code == 7
    assert scene.said == [ForgetRun(node=BOX, job=JobId(4), attempt=1)]


def test_it_can_be_stopped() -> None:
    scene = Scene()
    join(scene, (started(4), origin(4, 0)))
    scene.stop(4)
    assert [type(command) for command in scene.said] == [SignalJob]
    scene.report(exited(4, exit_code=None, signal=15))
    assert isinstance(scene.jobs[JobId(4)].status, Cancelled)


@pytest.mark.parametrize(
    ("report", "end"),
    [
        (exited(4), Succeeded),
        (exited(4, exit_code=3), Failed),
        (launch_failed(4), Failed),
        (lost(4), Unknown),
        (gone(4), Unknown),
    ],
)
def test_an_attempt_that_has_ended_is_taken_in_as_ended(report: RunReport, end: type[Status]) -> None:
    scene = Scene()
    join(scene, (report, origin(4, 0)))
    assert isinstance(scene.jobs[JobId(4)].status, end)
    assert scene.state.jobs == {}
    assert scene.said == [ForgetRun(node=BOX, job=JobId(4), attempt=1)]


def test_an_end_that_is_stored_is_only_forgotten() -> None:
    scene = Scene()
    join(scene, (exited(4), origin(4, 0)), ended=frozenset({RunName(JobId(4), 1)}))
    assert scene.jobs == {}
    assert scene.said == [ForgetRun(node=BOX, job=JobId(4), attempt=1)]


def test_later_jobs_get_other_ids() -> None:
    scene = Scene()
    join(scene, (started(4), origin(4, 0)), (started(7), origin(7, 1)))
    assert scene.submit() == [8]


def test_it_gets_another_id_if_its_own_is_that_of_another_job() -> None:
    """Job 1 of this database must not be mistaken for job 1 of an earlier one, which still runs."""
    scene = Scene(gpus=2)
    scene.add(a_job(1, gpus=2))
    join(scene, (started(1), origin(1, 0)))
    assert isinstance(scene.state.jobs[JobId(1)].status, Queued)
    found = scene.state.jobs[JobId(2)]
    assert isinstance(found.status, Unknown)
    assert found.run == RunName(JobId(1), 1)
    scene.stop(2)
    assert scene.said == [SignalJob(node=BOX, job=JobId(1), attempt=1, grace_s=10.0, signal=15)]
    scene.report(exited(1, exit_code=None, signal=15))
    assert isinstance(scene.jobs[JobId(2)].status, Cancelled)
    assert ForgetRun(node=BOX, job=JobId(1), attempt=1) in scene.said
    (start,) = [command for command in scene.said if isinstance(command, StartJob)]
    assert (start.job, start.attempt) == (1, 2), "1.1 is the name of the other one"


def test_a_running_job_whose_name_another_attempt_has_is_not_mistaken_for_it() -> None:
    scene = Scene(gpus=2)
    scene.add(a_job(1, status=Starting(booking=a_booking(1), decided_at=105.0)))
    join(scene, (started(1), origin(1, 0)), free=False)
    assert isinstance(scene.state.jobs[JobId(2)].status, Unknown)
    (start,) = [command for command in scene.said if isinstance(command, StartJob)]
    assert (start.job, start.attempt, start.booking) == (1, 2, a_booking(1))


@pytest.mark.parametrize(
    "status", [Queued(), Held(by="ann", since=1.0), Draft()], ids=lambda status: type(status).__name__
)
def test_a_waiting_job_whose_attempt_runs_does_not_start_again(status: Status) -> None:
    """The database is older than the attempt: its log was cut, or it was restored."""
    scene = Scene(gpus=2)
    scene.add(replace(a_job(1, status=status), attempt=0))
    join(scene, (started(1), origin(1, 0, at=100.0)), free=False)
    assert list(scene.state.jobs) == [1]
    assert isinstance(scene.state.jobs[JobId(1)].status, Unknown)
    assert scene.state.jobs[JobId(1)].attempt == 1
    assert scene.said == []


def test_a_waiting_job_whose_attempt_ended_meanwhile_has_ended() -> None:
    scene = Scene(gpus=2)
    scene.add(a_job(1))
    join(scene, (exited(1), origin(1, 0, at=100.0)), free=False)
    assert isinstance(scene.jobs[JobId(1)].status, Succeeded)
    assert scene.said == [ForgetRun(node=BOX, job=JobId(1), attempt=1)]


def test_an_earlier_attempt_of_a_waiting_job_is_only_forgotten() -> None:
    scene = Scene(gpus=0)
    scene.add(replace(a_job(1), attempt=2))
    join(scene, (exited(1), origin(1, 0, at=100.0)), free=False)
    assert isinstance(scene.state.jobs[JobId(1)].status, Queued)
    assert scene.said == [ForgetRun(node=BOX, job=JobId(1), attempt=1)]


def test_a_job_continues_with_a_later_attempt() -> None:
    scene = Scene(gpus=2)
    scene.add(a_job(1, status=a_status("running", a_booking(0))))
    join(scene, (started(1, attempt=2), origin(1, 1, attempt=2, at=100.0)), free=False)
    job = scene.state.jobs[JobId(1)]
    assert isinstance(job.status, Unknown)
    assert (job.attempt, job.status.booking) == (2, a_booking(1))


def test_an_attempt_beside_the_current_one_becomes_a_job_of_its_own() -> None:
    scene = Scene(gpus=2)
    scene.add(a_job(1, status=a_status("running", a_booking(0))))
    current = origin(1, 0, at=100.0)
    join(scene, (started(1), current), (started(1, attempt=2), origin(1, 1, attempt=2, at=100.0)), free=False)
    assert isinstance(scene.state.jobs[JobId(1)].status, Running)
    assert isinstance(scene.state.jobs[JobId(2)].status, Unknown)


def test_an_attempt_of_a_job_that_ended_here_is_taken_in_under_another_id() -> None:
    scene = Scene(gpus=1)
    scene.state.next_id = 5
    join(scene, (started(3), origin(3, 0)), free=False)
    assert list(scene.state.jobs) == [5]
    assert scene.state.jobs[JobId(5)].run == RunName(JobId(3), 1)


def test_a_start_without_a_trace_waits_again_if_its_gpu_is_taken() -> None:
    scene = Scene(gpus=1)
    scene.add(a_job(1, status=Starting(booking=a_booking(0), decided_at=105.0)))
    join(scene, (started(3), origin(3, 0)))
    assert isinstance(scene.state.jobs[JobId(1)].status, Queued)
    assert scene.said == []


def test_joining_again_changes_nothing() -> None:
    scene = Scene()
    scene.add(a_job(1, gpus=2))
    for _ in range(2):
        join(scene, (started(1), origin(1, 0)), free=False)
    assert list(scene.state.jobs) == [1, 2]
    join(scene)
    assert isinstance(scene.jobs[JobId(2)].status, Unknown)
    assert scene.jobs[JobId(2)].status.ended_at is not None, "the node has no trace of it"


def test_a_stored_end_of_another_job_is_not_taken_for_a_running_one() -> None:
    scene = Scene(gpus=1)
    scene.add(a_job(1, status=a_status("stopping", a_booking(0))))
    join(scene, (exited(1), origin(1, 0)), free=False, ended=frozenset({RunName(JobId(1), 1)}))
    status = scene.jobs[JobId(1)].status
    assert isinstance(status, Unknown)
    assert status.message == note("unknown.no_record")
    assert scene.said == [ForgetRun(node=BOX, job=JobId(1), attempt=1)]
