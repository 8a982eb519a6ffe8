"""Every state of a job with every event: the table and the core agree."""

from __future__ import annotations

from itertools import product

import pytest

from tarmac.core.commands import ForgetRun
from tarmac.core.events import Event, NodeJoined, ProgressSeen, Reported, RunReport, StopAsked, is_final
from tarmac.core.invariants import invariants
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.core.model.plan import EndByProgress
from tarmac.core.model.status import holds_booking, is_ended, state_name
from tarmac.core.transitions import TRANSITIONS
from tests.core.support.builders import (
    BOX,
    a_job,
    a_node,
    a_state,
    a_status,
    exited,
    free_gpus,
    gone,
    killed,
    launch_failed,
    lost,
    started,
)

BOOKED = ("starting", "running", "paused", "stopping", "unknown")
CAUSES: dict[str, list[RunReport]] = {
    "JobStarted": [started()],
    "JobExited": [exited(), exited(exit_code=1), killed()],
    "LaunchFailed": [launch_failed()],
    "JobLost": [lost(), lost(is_alive=True)],
    "TreeGone": [gone()],
}
REPORTS = [(cause, report) for cause, reports in CAUSES.items() for report in reports]


@pytest.mark.parametrize(("state", "report"), list(product(BOOKED, REPORTS)), ids=str)
def test_a_report_follows_the_table_or_is_ignored(state: str, report: tuple[str, RunReport]) -> None:
    cause, said = report
    job = a_job(status=a_status(state))
    world = a_state(a_node(), jobs=(job,))
    before = job.status
    handle(world, Reported(node=BOX, report=said), 200.0)
    targets = TRANSITIONS.get((state, cause), ())
    assert (state_name(job.status) in targets) if targets else (job.status is before)
    assert bool(world.changes) == (job.status is not before), "what is said again is not written down again"
    assert invariants.violations(world) == []


@pytest.mark.parametrize(("state", "report"), list(product(BOOKED, REPORTS)), ids=str)
def test_a_final_report_frees_the_gpus_and_lets_the_node_forget(state: str, report: tuple[str, RunReport]) -> None:
    _, said = report
    job = a_job(status=a_status(state))
    world = a_state(a_node(), jobs=(job,))
    commands = handle(world, Reported(node=BOX, report=said), 200.0)
    assert is_ended(job.status) == is_final(said)
    assert (len(free_gpus(world.nodes[BOX])) == 2) == is_final(said)
    assert (ForgetRun(node=BOX, job=JobId(1), attempt=1) in commands) == is_final(said)


@pytest.mark.parametrize("state", ["queued", *BOOKED])
@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_progress_is_noted_of_the_running_attempt_only_and_changes_no_state(state: str, attempt: int) -> None:
    job = a_job(status=a_status(state), gpus=1)
    world = a_state(a_node(gpus=0 if state == "queued" else 2), jobs=(job,))
    before = job.status
    commands = handle(world, ProgressSeen(ends=(EndByProgress(JobId(1), attempt, 300.0),)), 200.0)
    is_noted = state == "running" and attempt == job.attempt
    assert world.runtimes.ends_by_progress == ({JobId(1): 300.0} if is_noted else {})
    assert job.status is before
    assert not commands
    assert not world.changes, "it is not written to disk"
    assert invariants.violations(world) == []


@pytest.mark.parametrize(("state", "report"), list(product(["running"], REPORTS)), ids=str)
def test_an_attempt_that_no_longer_runs_has_no_end_by_progress(state: str, report: tuple[str, RunReport]) -> None:
    job = a_job(status=a_status(state))
    world = a_state(a_node(), jobs=(job,))
    handle(world, ProgressSeen(ends=(EndByProgress(JobId(1), 1, 300.0),)), 200.0)
    handle(world, Reported(node=BOX, report=report[1]), 200.0)
    assert bool(world.runtimes.ends_by_progress) == (state_name(job.status) == "running")


@pytest.mark.parametrize("state", ["queued", *BOOKED])
@pytest.mark.parametrize("cause", ["StopAsked", "RunMissing"])
def test_stops_and_missing_attempts_follow_the_table(state: str, cause: str) -> None:
    job = a_job(status=a_status(state), gpus=1)
    world = a_state(a_node(gpus=0 if state == "queued" else 2), jobs=(job,))
    before = job.status
    asked = StopAsked(job=JobId(1), by="ann")
    event: Event = asked if cause == "StopAsked" else NodeJoined(node=BOX, cpu_job_slots=1, runs=())
    handle(world, event, 200.0)
    targets = TRANSITIONS.get((state, cause), ())
    assert (state_name(job.status) in targets) if targets else (job.status is before)
    assert invariants.violations(world) == []


@pytest.mark.parametrize("name", ["succeeded", "failed", "cancelled", "unknown-ended"])
def test_ended_jobs_hold_no_booking(name: str) -> None:
    assert is_ended(a_status(name))
    assert holds_booking(a_status(name)) is None


@pytest.mark.parametrize("name", BOOKED)
def test_jobs_that_may_still_run_hold_their_gpus(name: str) -> None:
    assert not is_ended(a_status(name))
    assert holds_booking(a_status(name)) is not None


def test_every_state_with_gpus_has_a_row_for_every_final_report() -> None:
    final = ("JobExited", "LaunchFailed", "JobLost", "TreeGone")
    assert [pair for pair in product(BOOKED, final) if pair not in TRANSITIONS] == []
