"""Starved jobs: their turn came long ago, they did not fit, and others have started since."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from tarmac.core.model.status import Queued

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

MAX_STARVED = 8  # jobs considered in one pass


def starved_jobs(state: State, now: float) -> list[Job]:
    """Jobs that were stuck for `starvation_s`, longest first. Under fifo no job is: turns don't rotate."""
    if state.rules.policy == "fifo" or not state.stuck_since:
        return []
    since = islice(state.stuck_since.items(), MAX_STARVED)
    jobs = [state.jobs[job] for job, at in since if now - at >= state.rules.starvation_s]
    return [job for job in jobs if _is_next(state, job)]


def _is_next(state: State, job: Job) -> bool:
    """It is its owner's first job, and no job of a higher tier waits."""
    own = state.queue.owners.get(job.spec.owner)
    if own is None or own.turn().job != job.id:
        return False
    return all(queue.turn().tier >= own.turn().tier for queue in state.queue.owners.values())


def waits_since(job: Job) -> float:
    since = job.status.since if isinstance(job.status, Queued) and job.status.since is not None else job.submitted_at
    return max(since, job.spec.begin_at or since)
