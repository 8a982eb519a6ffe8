"""Who has to leave for a job of a higher tier: the least work lost, and never for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model import Running, Stopping
from tarmac.core.policy.claimed import Bounds
from tarmac.core.policy.placed import fitting_cards
from tarmac.core.policy.scratch import without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model import Job, JobId, Node
    from tarmac.core.state import State


def victims(state: State, job: Job, now: float) -> tuple[JobId, ...]:
    """None where no set of them makes room, and none where room comes anyway: somebody is leaving already."""
    if job.spec.tier == "preemptible" or not state.preemptible:
        return ()
    bounds = Bounds(state, job, now, None)
    best: tuple[float, int, tuple[JobId, ...]] | None = None
    for node in state.nodes.values():
        leaving = [other for other in node.host if isinstance(state.jobs[other].status, Stopping)]
        evictable = [other for other in node.host if other in state.preemptible]
        if leaving and _fits(state, node, job, leaving, bounds):
            return ()
        if evictable:
            chosen = _fewest(state, node, job, leaving, evictable, bounds, now)
            if chosen:
                cost = (sum(work_lost(state, other, now) for other in chosen), len(chosen), chosen)
                best = cost if best is None or cost < best else best
    return () if best is None else best[2]


def work_lost(state: State, number: JobId, now: float) -> float:
    """GPU-seconds that were for nothing if it starts over."""
    job = state.jobs[number]
    if not isinstance(job.status, Running):
        return 0.0
    return max(1, job.spec.request.gpus) * max(0.0, now - job.status.started_at)


def _fewest(
    state: State, node: Node, job: Job, leaving: list[JobId], evictable: list[JobId], bounds: Bounds, now: float
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


def _fits(state: State, node: Node, job: Job, gone: Iterable[JobId], bounds: Bounds) -> bool:
    request = job.spec.request
    cards = fitting_cards(without(node, list(gone)), request, state.rules)
    return cards is not None and len([gpu for gpu in cards if gpu.uuid not in bounds.off(node)]) >= request.gpus
