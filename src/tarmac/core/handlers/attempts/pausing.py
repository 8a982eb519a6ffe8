"""Pausing running jobs: their processes are frozen, and they keep their GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.commands import PauseJob
from tarmac.core.events import JobsPaused
from tarmac.core.model.status import Paused, Running, Unknown, holds_booking, is_working
from tarmac.core.story import enter

if TYPE_CHECKING:
    from tarmac.core.commands import Command
    from tarmac.core.events import JobsResumed
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Status
    from tarmac.core.state import State


def change(state: State, event: JobsPaused | JobsResumed, now: float) -> list[Command]:
    """Jobs that have ended or changed since the request was made are left alone."""
    commands: list[Command] = []
    for job in [state.jobs[number] for number in event.jobs if number in state.jobs]:
        if isinstance(event, JobsPaused):
            commands += _pause(state, job, event, now)
        elif isinstance(job.status, Paused):
            enter(state, job, job.status.resumed(now), "JobsResumed", now, {"by": event.by})
            commands += [_resume(job, name) for name in job.status.booking.started_nodes]
    return commands


def clock_runs_on(state: State, job: Job) -> bool:
    """An older version started it with a time limit, which would not wait for a pause."""
    booking = holds_booking(job.status)
    return booking is not None and job.run in state.node(booking.node).clocks_run_on


def repeat(job: Job, node: NodeName, *, is_paused_there: bool) -> list[Command]:
    """Tell a node that joins again what it may have missed."""
    if isinstance(job.status, Paused):
        return [_freeze(job, job.status, node)]
    return [_resume(job, node)] if is_paused_there and isinstance(job.status, Running | Unknown) else []


def end_pause_of_lost(job: Job, node: NodeName, before: Status) -> list[Command]:
    """Let a job run on whose shim was killed, if it was paused: nobody can resume a job in an unknown state.

    A node repeats such a loss when it joins, so a command that did not arrive is repeated as well.
    """
    is_left = isinstance(job.status, Unknown) and job.status.ended_at is None
    return [_resume(job, node)] if is_left and isinstance(before, Paused | Unknown) else []


def _pause(state: State, job: Job, event: JobsPaused, now: float) -> list[Command]:
    status = job.status
    if not is_working(status) or (not event.is_counted and clock_runs_on(state, job)):
        return []
    paused = Paused(
        booking=status.booking,
        pid=status.pid,
        started_at=status.started_at,
        paused_s=status.paused_s,
        counted_s=status.counted_s,
        paused_at=now,
        by=event.by,
        is_counted=event.is_counted,
    )
    counted = {"time_limit_continues": True} if event.is_counted else {}
    enter(state, job, paused, "JobsPaused", now, {"by": event.by, **counted})
    return [_freeze(job, paused, name) for name in paused.booking.started_nodes]


def _freeze(job: Job, status: Paused, node: NodeName) -> PauseJob:
    return PauseJob(
        node=node,
        job=job.run.job,
        attempt=job.run.attempt,
        is_paused=True,
        is_counted=status.is_counted,
    )


def _resume(job: Job, node: NodeName) -> PauseJob:
    return PauseJob(node=node, job=job.run.job, attempt=job.run.attempt, is_paused=False)
