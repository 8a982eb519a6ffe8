"""Planned starts of jobs that do not fit: their GPUs are held back, and nothing that starts later may delay them.

A plan rests on when running jobs are expected to end. Under fifo, only the first job that does not fit gets one. Under
the other policies further ones are planned, each on another node so that no plan can delay an earlier one: for wide
jobs of owners who have less than their part of the GPUs.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.fit.node_fit import chosen_gpus, fitting_gpus
from tarmac.core.fit.what_if import without
from tarmac.core.model.plan import CERTAIN, EarliestStart, PlannedStart, RestsOn
from tarmac.core.model.status import Queued, Stopping
from tarmac.core.policy.order.starvation import is_overdue
from tarmac.core.policy.plans.earliest_start import earliest_starts, soonest_start
from tarmac.core.policy.plans.exclusions import Exclusions

if TYPE_CHECKING:
    from collections.abc import Collection

    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.policy.order.fair_parts import FairParts
    from tarmac.core.state import State


def most_plans(state: State) -> int:
    """How many starts are planned ahead at most. With one, fifo is what is known as EASY backfill.

    More than one only on less than half of the nodes: the rest of the cluster must stay open to all other jobs.
    """
    on_nodes = 1 if state.rules.policy == "fifo" else max(1, (len(state.nodes) - 1) // 2)
    return min(state.rules.planned_starts, on_nodes)


def planned_starts(
    state: State, job: Job, now: float, planned_nodes: Collection[NodeName] = (), parts: FairParts | None = None
) -> list[PlannedStart]:
    """A plan for each node that the job needs, apart from `planned_nodes`, all for the same moment; or none at all."""
    found: list[PlannedStart] = []
    taken = set(planned_nodes)
    for _ in range(job.spec.request.node_count):
        planned = planned_start(state, job, now, taken, parts)
        if planned is None:
            return []
        taken.add(planned.node)
        found.append(planned)
    return found if len(found) == 1 else _together(found)


def _together(plans: list[PlannedStart]) -> list[PlannedStart]:
    """The job starts when the last of its nodes is free. What holds for one plan holds for all."""
    moments = [planned.at for planned in plans]
    at = None if None in moments else max(moment for moment in moments if moment is not None)
    rests_on = frozenset[RestsOn]().union(*(planned.rests_on for planned in plans))
    good_until = min(planned.good_until for planned in plans)
    return [replace(planned, at=at, rests_on=rests_on, good_until=good_until) for planned in plans]


def planned_start(
    state: State, job: Job, now: float, planned_nodes: Collection[NodeName] = (), parts: FairParts | None = None
) -> PlannedStart | None:
    """The earliest start on a node other than `planned_nodes`. A pass gives the parts, which do not change in it."""
    if not job.spec.request.gpus:
        return None  # a job without GPUs needs no plan: one slot is as good as another
    soonest = soonest_start(state, job, now, planned_nodes)
    overdue = is_overdue(state, job, now, parts)
    if soonest is not None and (overdue or "guess" not in soonest[1].rests_on):
        return _plan(state, job, *soonest, now, is_overdue=overdue)
    return _plan_without_date(state, job, now, planned_nodes) if overdue else None  # or nothing but a guess


def _plan_without_date(state: State, job: Job, now: float, planned_nodes: Collection[NodeName]) -> PlannedStart | None:
    """On the node with the most GPUs that are free. The others belong to jobs in an unknown state."""
    possible = [
        (-start.free, number, name, start)
        for number, (name, start) in enumerate(earliest_starts(state, job, now).items())
        if start.gpus and name not in planned_nodes
    ]
    if not possible:
        return None
    _, _, name, start = min(possible)
    return _plan(state, job, name, start, now, is_overdue=True)


def starts_on_preempted_gpus(state: State, now: float) -> list[PlannedStart]:
    """For each waiting job that others were preempted for: hold back their GPUs, or they were stopped for nothing."""
    stopping: dict[JobId, dict[NodeName, list[Stopping]]] = {}
    for number in sorted(state.stopping):
        status = state.jobs[number].status
        if isinstance(status, Stopping) and status.for_job in state.jobs:
            for name in status.booking.held_nodes:
                stopping.setdefault(status.for_job, {}).setdefault(name, []).append(status)
    found = (_on_preempted_gpus(state, state.jobs[number], on, now) for number, on in stopping.items())
    return [planned for planned in found if planned is not None]


def _on_preempted_gpus(
    state: State, job: Job, stopping: dict[NodeName, list[Stopping]], now: float
) -> PlannedStart | None:
    if not isinstance(job.status, Queued):
        return None
    for name, statuses in stopping.items():
        node = without(state.nodes[name], stopping_jobs_on(state, name, job))
        off = Exclusions(state, job, now, ()).reserved(node)
        gpus = [gpu for gpu in fitting_gpus(node, job.spec.request, state.rules) or () if gpu.uuid not in off]
        if len(gpus) >= job.spec.request.gpus:
            chosen = tuple(gpu.uuid for gpu in chosen_gpus(node, gpus, job.spec.request))
            at = max(status.asked_at + status.grace_s for status in statuses)
            start = EarliestStart(at=at, gpus=chosen, rests_on=frozenset({"stop"}))
            return _plan(state, job, name, start, now, is_overdue=is_overdue(state, job, now))
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


def _plan(
    state: State, job: Job, node: NodeName, start: EarliestStart, now: float, *, is_overdue: bool
) -> PlannedStart:
    request = job.spec.request
    return PlannedStart(
        job=job.id,
        node=node,
        gpus=frozenset(start.gpus),
        at=None if start.at is None else max(start.at, now),
        rests_on=start.rests_on,
        uses_host=bool(request.memory_bytes or request.cpus),
        is_overdue=is_overdue,
        good_until=inf if start.rests_on <= CERTAIN else state.fit_cache.starts.good_until(node),
    )
