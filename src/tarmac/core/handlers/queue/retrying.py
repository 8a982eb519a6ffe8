"""Ended jobs that a person runs again, each as the next attempt of the same job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.handlers.queue.dependencies import resolve_dependencies
from tarmac.core.model.status import Queued, Requeue
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.events import JobsRetried
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def retry(state: State, event: JobsRetried, now: float) -> None:
    """All jobs return before their dependencies are looked at: one of them may wait for another."""
    for number in event.waiting:
        job = state.jobs.get(number)
        if job is not None and isinstance(job.status, Queued) and job.status.retry_at is not None:
            _end_wait(state, job, event.by, now)
    again = [job for job in event.jobs if job.id not in state.jobs]
    for ended in again:
        job = replace(ended, retried=0, spec=ended.spec.with_missing(()))  # somebody may have created what was missing
        state.revive(job)
        requeue = Requeue(why="retried", by=event.by)
        enter(state, job, Queued(since=now, requeued=requeue), "JobsRetried", now, {"by": event.by})
    for ended in again:
        resolve_dependencies(state, state.jobs[ended.id], dict(event.ended), now)


def _end_wait(state: State, job: Job, by: str, now: float) -> None:
    """Start the next attempt without the rest of its back-off."""
    assert isinstance(job.status, Queued)
    state.dequeue(job)
    job.status = replace(job.status, retry_at=None)
    state.enqueue([job], now)
    tell(state, job, "JobsRetried", now, {"by": by})
