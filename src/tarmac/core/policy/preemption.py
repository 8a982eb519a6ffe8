"""Which jobs to preempt for a job of a higher tier: those that lose the least work, and never in vain."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.fit.node_fit import booking_on, fitting_gpus
from tarmac.core.fit.what_if import without
from tarmac.core.limits import reached_there
from tarmac.core.model.status import Running, holds_booking
from tarmac.core.policy.plans.exclusions import Exclusions
from tarmac.core.policy.plans.planned_start import stopping_jobs_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.state import State

MAX_NODES = 64  # nodes examined for one job


class Cost(NamedTuple):
    """What preempting a set of jobs costs; the lowest is chosen."""

    lost_gpu_s: float
    how_many: int
    jobs: tuple[JobId, ...]


def jobs_to_preempt(state: State, job: Job, now: float) -> tuple[JobId, ...]:
    """Empty where no set of jobs is enough, and where jobs that already stop will make the job fit."""
    if job.spec.tier == "preemptible" or not state.preemptible or not job.spec.request.gpus:
        return ()  # a CPU slot could not be held back for the job until the others are gone
    if job.spec.request.node_count > 1:
        return ()  # it waits for its planned start: others would be stopped on several nodes, which rarely end together
    excluded = Exclusions(state, job, now, ())
    stopping = {name: stopping_jobs_on(state, name, job) for name in _by_node(state, state.stopping)}
    if any(_fits(state, state.nodes[name], job, gone, excluded) for name, gone in stopping.items()):
        return ()
    best: Cost | None = None
    for name, candidates in _cheapest_nodes(state, _by_node(state, state.preemptible), now):
        chosen = _fewest(state, state.nodes[name], job, stopping.get(name, []), candidates, excluded, now)
        if chosen:
            cost = Cost(sum(work_lost(state, other, now) for other in chosen), len(chosen), chosen)
            best = cost if best is None or cost < best else best
    return () if best is None else best.jobs


def _by_node(state: State, jobs: set[JobId]) -> dict[NodeName, list[JobId]]:
    found: dict[NodeName, list[JobId]] = {}
    for job in sorted(jobs):
        booking = holds_booking(state.jobs[job].status)
        assert booking is not None, "a job that runs or stops has a booking"
        for name in booking.held_nodes:
            found.setdefault(name, []).append(job)
    return found


def _cheapest_nodes(
    state: State, candidates: dict[NodeName, list[JobId]], now: float
) -> list[tuple[NodeName, list[JobId]]]:
    """The nodes on which the least work could be lost, if there are many."""
    if len(candidates) <= MAX_NODES:
        return list(candidates.items())
    return nsmallest(MAX_NODES, candidates.items(), key=lambda item: sum(work_lost(state, job, now) for job in item[1]))


def work_lost(state: State, number: JobId, now: float) -> float:
    """GPU-seconds that are lost if the job starts over."""
    job = state.jobs[number]
    if not isinstance(job.status, Running):
        return 0.0
    return max(1, job.spec.request.total_gpus) * (state.runtimes.elapsed_s(job, now) or 0.0)


def _fewest(
    state: State,
    node: Node,
    job: Job,
    stopping: list[JobId],
    candidates: list[JobId],
    excluded: Exclusions,
    now: float,
) -> tuple[JobId, ...]:
    """Add candidates by least work lost until the job fits, then spare every one that is not needed."""
    chosen: list[JobId] = []
    for other in sorted(candidates, key=lambda other: (work_lost(state, other, now), -other)):
        chosen.append(other)
        if _fits(state, node, job, [*stopping, *chosen], excluded):
            break
    else:
        return ()
    for other in list(reversed(chosen)):
        rest = [one for one in chosen if one != other]
        if _fits(state, node, job, [*stopping, *rest], excluded):
            chosen = rest
    return tuple(chosen)


def _fits(state: State, node: Node, job: Job, gone: Iterable[JobId], excluded: Exclusions) -> bool:
    """Would the job fit on the node without the jobs that are gone?"""
    request = job.spec.request
    gpus = fitting_gpus(without(node, list(gone)), request, state.rules)
    usable = [gpu for gpu in gpus or () if gpu.uuid not in excluded.off(node)]
    if gpus is None or len(usable) < request.gpus:
        return False
    # A request for memory counts as a part of the GPU it gets, so a limit can be checked only against a booking.
    return reached_there(state, job, booking_on(node, usable, request)) is None
