"""Asking jobs to end: for good because somebody says so, or for a while because others need the room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.events import StopAsked
from tarmac.core.handlers.runs import stop_signal
from tarmac.core.model.queue import Mode
from tarmac.core.model.status import Cancelled, Draft, Held, Queued, Running, Starting, Stopping, Unknown
from tarmac.core.story import enter

if TYPE_CHECKING:
    from tarmac.core.commands import Command
    from tarmac.core.events import QueueStopped
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def ask(state: State, event: StopAsked | QueueStopped, now: float) -> list[Command]:
    if not isinstance(event, StopAsked):
        return stop_all(state, event, now)
    return [command for one in event.one_by_one() for command in stop(state, one, now)]


def stop(state: State, event: StopAsked, now: float) -> list[Command]:
    job = state.jobs.get(event.job)
    if job is None:
        return []
    grace_s = job.spec.grace_s if event.grace_s is None else event.grace_s
    detail = {"by": event.by, "grace_s": grace_s}
    status: Stopping | Unknown
    match job.status:
        case Queued() | Held() | Draft():
            gone = Cancelled(booking=None, pid=None, started_at=None, ended_at=now)
            enter(state, job, gone, "StopAsked", now, detail)
            return []
        case Starting() | Running():
            status = _stopping(job.status, now, grace_s, None)
        case Stopping():
            # Whoever wants it to end has the last word over whoever wanted its room only.
            status = replace(job.status, grace_s=min(grace_s, job.status.grace_s), requeue=None, for_job=None)
        case Unknown():
            status = replace(job.status, stop_grace_s=grace_s)
        case _:
            return []
    enter(state, job, status, "StopAsked", now, detail)
    return [stop_signal(job, status.booking.node, grace_s)]


def preempt(state: State, job: Job, for_job: JobId, now: float) -> list[Command]:
    return _send_back(state, job, "Preempted", f"made room for job {for_job}", now, for_job=for_job)


def _send_back(
    state: State,
    job: Job,
    cause: str,
    why: str,
    now: float,
    *,
    grace_s: float | None = None,
    for_job: JobId | None = None,
) -> list[Command]:
    """It leaves, and waits at its place in the queue again."""
    if not isinstance(job.status, Starting | Running) or _is_adopted(job):
        return []
    stopping = _stopping(job.status, now, job.spec.grace_s if grace_s is None else grace_s, why)
    status = replace(stopping, for_job=for_job)
    enter(state, job, status, cause, now, {"why": why, "grace_s": status.grace_s})
    return [stop_signal(job, status.booking.node, status.grace_s)]


def stop_all(state: State, event: QueueStopped, now: float) -> list[Command]:
    """Everything that runs goes back to the front, and nothing starts until somebody says so."""
    reason = "stopped; what ran is at the front of the queue again"
    state.set_mode(Mode(is_paused=True, is_draining=state.mode.is_draining, by=event.by, reason=reason, since=now))
    running = [job for job in state.jobs.values() if isinstance(job.status, Starting | Running)]
    first = min((job.position for job in state.jobs.values() if isinstance(job.status, Queued)), default=None)
    commands: list[Command] = []
    for job in sorted(running, key=lambda job: job.rank, reverse=True):
        sent = _send_back(state, job, "QueueStopped", f"{event.by} stopped the queue", now, grace_s=event.grace_s)
        if sent and first is not None:
            first = min(first - 1, job.position)  # in front of the line, and of those of its own rank behind it
            state.put(job, first)
        commands += sent
    return commands


def _stopping(status: Starting | Running, now: float, grace_s: float, requeue: str | None) -> Stopping:
    pid, started_at = (status.pid, status.started_at) if isinstance(status, Running) else (None, None)
    return Stopping(
        booking=status.booking,
        pid=pid,
        started_at=started_at,
        asked_at=now,
        grace_s=grace_s,
        requeue=requeue,
    )


def _is_adopted(job: Job) -> bool:
    """Tarmac did not start it, so it cannot start it again."""
    return job.spec.is_adopted
