"""Who has to leave for a job of a higher tier: the least work lost, and never for nothing."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING

from tarmac.core.limits import reached_there
from tarmac.core.model.status import Running, holds_booking
from tarmac.core.policy.backfill import Exclusions, leaves_by_itself
from tarmac.core.policy.placement import booking_on, fitting_gpus
from tarmac.core.policy.what_if import without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.state import State

MOST_NODES = 64  # that are looked at closely, for one job


def victims(state: State, job: Job, now: float) -> tuple[JobId, ...]:
    """None where no set of them makes room, and none where room comes anyway: somebody is leaving already."""
    if job.spec.tier == "preemptible" or not state.preemptible or not job.spec.request.gpus:
        return ()  # what a job without GPUs needs could not be kept for it until they are gone
    bounds = Exclusions(state, job, now, None)
    nodes = _by_node(state, state.leaving)
    leaving = {name: leaves_by_itself(state, name, job) for name in nodes}
    evictable = _by_node(state, state.preemptible)
    if any(_fits(state, state.nodes[name], job, gone, bounds) for name, gone in leaving.items()):
        return ()
    best: tuple[float, int, tuple[JobId, ...]] | None = None
    for name, others in _likeliest(state, evictable, now):
        chosen = _fewest(state, state.nodes[name], job, leaving.get(name, []), others, bounds, now)
        if chosen:
            cost = (sum(work_lost(state, other, now) for other in chosen), len(chosen), chosen)
            best = cost if best is None or cost < best else best
    return () if best is None else best[2]


def _by_node(state: State, jobs: set[JobId]) -> dict[NodeName, list[JobId]]:
    found: dict[NodeName, list[JobId]] = {}
    for job in sorted(jobs):
        booking = holds_booking(state.jobs[job].status)
        assert booking is not None, "who can leave has a place"
        found.setdefault(booking.node, []).append(job)
    return found


def _likeliest(state: State, evictable: dict[NodeName, list[JobId]], now: float) -> list[tuple[NodeName, list[JobId]]]:
    """Where there are many nodes, those on which the least work could be lost."""
    if len(evictable) <= MOST_NODES:
        return list(evictable.items())
    return nsmallest(MOST_NODES, evictable.items(), key=lambda one: sum(work_lost(state, job, now) for job in one[1]))


def work_lost(state: State, number: JobId, now: float) -> float:
    """GPU-seconds that were for nothing if it starts over."""
    job = state.jobs[number]
    if not isinstance(job.status, Running):
        return 0.0
    return max(1, job.spec.request.gpus) * max(0.0, now - job.status.started_at)


def _fewest(
    state: State, node: Node, job: Job, leaving: list[JobId], evictable: list[JobId], bounds: Exclusions, now: float
) -> tuple[JobId, ...]:
    """By least work until it fits; then whoever turns out not to be in the way stays."""
    chosen: list[JobId] = []
    for other in sorted(evictable, key=lambda other: (work_lost(state, other, now), -other)):
        chosen.append(other)
        if _fits(state, node, job, [*leaving, *chosen], bounds):
            break
    else:
        return ()
    for other in list(reversed(chosen)):
        rest = [one for one in chosen if one != other]
        if _fits(state, node, job, [*leaving, *rest], bounds):
            chosen = rest
    return tuple(chosen)


def _fits(state: State, node: Node, job: Job, gone: Iterable[JobId], bounds: Exclusions) -> bool:
    request = job.spec.request
    gpus = fitting_gpus(without(node, list(gone)), request, state.rules)
    usable = [gpu for gpu in gpus or () if gpu.uuid not in bounds.off(node)]
    if gpus is None or len(usable) < request.gpus:
        return False
    # Only the GPUs tell what part of them some memory is, and so whether a limit would keep the job off all the same.
    return reached_there(state, job, booking_on(node, usable, request)) is None
