"""Asking jobs to stop: for good at a person's request, or to be requeued (preemption, a stopped queue)."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.events import StopAsked
from tarmac.core.handlers.attempts.parts import signals, without_unsent
from tarmac.core.model.note import note
from tarmac.core.model.queue import Mode
from tarmac.core.model.status import Cancelled, Draft, Held, Queued, Requeue, Running, Starting, Stopping, Unknown
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
    detail = {"by": event.by or "Tarmac", "why": event.why, "grace_s": grace_s}
    if event.why is None:
        del detail["why"]
    status: Stopping | Unknown
    match job.status:
        case Queued() | Held() | Draft():
            gone = Cancelled(booking=None, pid=None, started_at=None, ended_at=now)
            enter(state, job, gone, "StopAsked", now, detail)
            return []
        case Starting() | Running():
            status = _stopping(job.status, now, grace_s, None)
        case Stopping():
            # A person who ends the job overrides a preemption, after which it would run again.
            status = replace(job.status, grace_s=min(grace_s, job.status.grace_s), requeue=None)
        case Unknown():
            status = replace(job.status, stop_grace_s=grace_s)
        case _:
            return []
    enter(state, job, status, "StopAsked", now, detail)
    return signals(job, grace_s)


def preempt(state: State, job: Job, for_job: JobId, now: float) -> list[Command]:
    return _requeue(state, job, "Preempted", Requeue(why="preempted", for_job=for_job), now)


def _requeue(
    state: State, job: Job, cause: str, requeue: Requeue, now: float, *, grace_s: float | None = None
) -> list[Command]:
    """Stop the attempt; the job returns to its place in the queue."""
    if not isinstance(job.status, Starting | Running) or job.spec.is_adopted:
        return []  # Tarmac cannot start an adopted process again
    status = _stopping(job.status, now, job.spec.grace_s if grace_s is None else grace_s, requeue)
    enter(state, job, status, cause, now, {"why": requeue.note, "grace_s": status.grace_s})
    return signals(job, status.grace_s, is_requeued=True)


def stop_all(state: State, event: QueueStopped, now: float) -> list[Command]:
    """Pause the queue and requeue every running job at its front."""
    reason = note("paused.stopped")
    state.set_mode(Mode(is_paused=True, is_draining=state.mode.is_draining, by=event.by, reason=reason, since=now))
    running = [job for job in state.jobs.values() if isinstance(job.status, Starting | Running)]
    first = min((job.position for job in state.jobs.values() if isinstance(job.status, Queued)), default=inf)
    commands: list[Command] = []
    for job in sorted(running, key=lambda job: job.rank, reverse=True):
        requeue = Requeue(why="queue_stopped", by=event.by)
        signals = _requeue(state, job, "QueueStopped", requeue, now, grace_s=event.grace_s)
        if signals:
            # Before the queue, and before running jobs that rank behind it. It counts as moved under every order.
            first = min(first - 1, job.id - 0.5, job.position)
            state.put(job, first)
        commands += signals
    return commands


def _stopping(status: Starting | Running, now: float, grace_s: float, requeue: Requeue | None) -> Stopping:
    pid, started_at = (status.pid, status.started_at) if isinstance(status, Running) else (None, None)
    return Stopping(
        booking=without_unsent(status.booking, now),
        pid=pid,
        started_at=started_at,
        asked_at=now,
        grace_s=grace_s,
        requeue=requeue,
        paused_s=status.paused_until(now) if isinstance(status, Running) else 0.0,
    )
