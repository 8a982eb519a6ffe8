"""Overdue jobs: wide ones whose turn came long ago, which did not fit, while narrower jobs have started since."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from tarmac.core.policy.order.fair_parts import FairParts
from tarmac.core.policy.order.own_order import do_turns_rotate, first_job

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

MAX_STARVED = 8  # jobs served in one pass
MAX_LOOKED_AT = 256  # stuck jobs considered in one pass
OTHERS_WAITS = 3.0  # times what jobs wait on average
LEAST_PATIENCE, MOST_PATIENCE = 0.5, 10.0  # times the longest recent run


def starved_jobs(state: State, now: float, parts: FairParts | None = None) -> list[Job]:
    """Overdue jobs that are first in their owner's order and of the highest tier, the longest stuck first.

    None is served before its turn where turns do not rotate.
    """
    if not do_turns_rotate(state.rules) or not state.stuck_since:
        return []
    least = least_patience_s(state)
    parts = parts or FairParts(state)
    found: dict[str, Job] = {}
    if now < next(iter(state.stuck_since.values())) + least:
        return []
    tier = min(own.turn().tier for own in state.queue.owners.values())
    for number, since in islice(state.stuck_since.items(), MAX_LOOKED_AT):
        job = state.jobs[number]
        if now < since + least or len(found) == MAX_STARVED:
            break
        if job.spec.owner not in found and _is_next(state, job, tier) and is_overdue(state, job, now, parts):
            found[job.spec.owner] = job
    return list(found.values())


def is_overdue(state: State, job: Job, now: float, parts: FairParts | None = None) -> bool:
    """Ask it about jobs whose turn it is, or was. Moments are sums, as in the wake-ups for them."""
    since = state.stuck_since.get(job.id, now)
    if not job.spec.request.is_wide or now < since + least_patience_s(state):
        return False
    return now >= since + patience_s(state) or (parts or FairParts(state)).is_due(job, 0.0)


def least_patience_s(state: State) -> float:
    """How long the wide job of an owner who is due more GPUs lets others pass."""
    return max(state.rules.starvation_s, LEAST_PATIENCE * state.runtimes.last_runs.longest_s)


def patience_s(state: State) -> float:
    """How long other wide jobs let others pass: more where all jobs wait for long.

    Where few jobs wait, a hold costs little. In an overloaded cluster it would make all others wait even longer. With
    time limits, planned starts keep wide jobs from starving, and the turns alone decide for much longer.
    """
    most_s = MOST_PATIENCE * state.runtimes.last_runs.longest_s
    if not state.runtimes.last_runs.have_limits:
        waits_s = state.recent_waits_s
        most_s = min(most_s, OTHERS_WAITS * sum(waits_s) / len(waits_s) if waits_s else 0.0)
    return max(least_patience_s(state), most_s)


def _is_next(state: State, job: Job, tier: int) -> bool:
    own = state.queue.owners.get(job.spec.owner)
    return own is not None and own.turn().tier == tier and first_job(state, own) == job.id
