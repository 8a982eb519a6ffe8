"""Overdue jobs: wide ones whose turn came long ago, which did not fit, while narrower jobs have started since."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from tarmac.core.policy.order import do_turns_rotate
from tarmac.core.policy.own_order import first_job

if TYPE_CHECKING:
    from tarmac.core.model.job import Job, Request
    from tarmac.core.state import State

MAX_STARVED = 8  # jobs considered in one pass
OTHERS_WAITS = 3.0  # times what jobs wait on average
LEAST_PATIENCE, MOST_PATIENCE = 0.5, 10.0  # times the longest recent run


def starved_jobs(state: State, now: float) -> list[Job]:
    """Overdue jobs, the longest stuck first. None is served before its turn where turns do not rotate."""
    if not do_turns_rotate(state.rules) or not state.stuck_since:
        return []
    jobs = [state.jobs[number] for number in islice(state.stuck_since, MAX_STARVED)]
    return [job for job in jobs if is_overdue(state, job, now) and _is_next(state, job)]


def is_overdue(state: State, job: Job, now: float) -> bool:
    """Ask it about jobs whose turn it is, or was."""
    since = state.stuck_since.get(job.id, now)
    return is_wide(job.spec.request) and now >= since + patience_s(state)  # a sum, as in the wake-up for this moment


def patience_s(state: State) -> float:
    """How long a wide job lets others pass. More where runs take long, and where all jobs wait for long.

    Where few jobs wait, a hold costs little. In an overloaded cluster it would make all others wait even longer.
    """
    longest_run_s = max(state.runtimes.last_s, default=0.0)
    waits_s = state.recent_waits_s
    mean_wait_s = sum(waits_s) / len(waits_s) if waits_s else 0.0
    usual_s = min(max(OTHERS_WAITS * mean_wait_s, LEAST_PATIENCE * longest_run_s), MOST_PATIENCE * longest_run_s)
    return max(state.rules.starvation_s, usual_s)


def is_wide(request: Request) -> bool:
    """Does it need more than the next GPU that comes free?"""
    return request.gpus > 1 or request.is_shared or bool(request.memory_bytes or request.cpus)


def _is_next(state: State, job: Job) -> bool:
    """It is its owner's first job, and no job of a higher tier waits."""
    own = state.queue.owners.get(job.spec.owner)
    if own is None or first_job(state, own) != job.id:
        return False
    return all(queue.turn().tier >= own.turn().tier for queue in state.queue.owners.values())
