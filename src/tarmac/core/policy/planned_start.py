"""The planned start of the first job that does not fit: its GPUs are held back, and nothing later may delay it.

The plan rests on the expected ends of running jobs. Where no end is known, GPUs are held back once the job has waited
for `starvation_s`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tarmac.core.fit.node_fit import chosen_gpus, fitting_gpus
from tarmac.core.fit.what_if import without
from tarmac.core.model.plan import EarliestStart, PlannedStart
from tarmac.core.model.status import Queued, Stopping
from tarmac.core.policy.earliest_start import earliest_starts
from tarmac.core.policy.exclusions import Exclusions
from tarmac.core.policy.starvation import waits_since

if TYPE_CHECKING:
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def planned_start(state: State, job: Job, now: float) -> PlannedStart | None:
    if not job.spec.request.gpus:
        return None  # a job without GPUs needs no plan: one slot is as good as another
    if state.stopping and (planned := _on_preempted_gpus(state, job, now)) is not None:
        return planned
    starts = earliest_starts(state, job, now)
    soonest, soonest_at = None, inf
    for name, start in starts.items():  # as a loop: there may be a thousand nodes
        if start.at is not None and start.at < soonest_at:
            soonest, soonest_at = name, start.at
    if soonest is not None:
        return _plan(job, soonest, starts[soonest], max(soonest_at, now))
    if now - waits_since(job) < state.rules.starvation_s:
        return None
    possible = [(-start.free, number, name) for number, (name, start) in enumerate(starts.items()) if start.gpus]
    if not possible:
        return None
    _, _, name = min(possible)
    return _plan(job, name, starts[name], None)


def _on_preempted_gpus(state: State, job: Job, now: float) -> PlannedStart | None:
    """Hold back exactly the GPUs that jobs were preempted from for this job, or they were stopped for nothing."""
    preempted: dict[NodeName, list[Stopping]] = {}
    for number in sorted(state.stopping):
        status = state.jobs[number].status
        if isinstance(status, Stopping) and status.for_job == job.id:
            preempted.setdefault(status.booking.node, []).append(status)
    for name, stopping in preempted.items():
        node = without(state.nodes[name], stopping_jobs_on(state, name, job))
        off = Exclusions(state, job, now, None).reserved(node)
        gpus = [gpu for gpu in fitting_gpus(node, job.spec.request, state.rules) or () if gpu.uuid not in off]
        if len(gpus) >= job.spec.request.gpus:
            chosen = tuple(gpu.uuid for gpu in chosen_gpus(node, gpus, job.spec.request))
            at = max(status.asked_at + status.grace_s for status in stopping)
            return _plan(job, name, EarliestStart(at=at, gpus=chosen, rests_on=frozenset({"stop"})), max(at, now))
    return None


def stopping_jobs_on(state: State, node: NodeName, job: Job) -> list[JobId]:
    """Jobs that are stopping on the node and whose GPUs are not promised to another job than this one."""
    return [
        number for number in state.nodes[node].host if number in state.stopping and not _is_promised(state, number, job)
    ]


def _is_promised(state: State, number: JobId, job: Job) -> bool:
    """Was the stopping job preempted for another job that still waits?"""
    status = state.jobs[number].status
    for_job = status.for_job if isinstance(status, Stopping) else None
    other = None if for_job is None or for_job == job.id else state.jobs.get(for_job)
    return other is not None and isinstance(other.status, Queued)


def _plan(job: Job, node: NodeName, start: EarliestStart, at: float | None) -> PlannedStart:
    request = job.spec.request
    return PlannedStart(
        job=job.id,
        node=node,
        gpus=frozenset(start.gpus),
        at=at,
        rests_on=start.rests_on,
        uses_host=bool(request.memory_bytes or request.cpus),
    )
