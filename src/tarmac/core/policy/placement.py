"""Where a request goes: its preferred nodes first, then the fullest, so that whole nodes stay free for wide jobs.

With `placement = spread`, the emptiest node comes first instead.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from tarmac.core.fit.node_fit import booking_on, fitting_gpus
from tarmac.core.model.part import Place
from tarmac.core.policy.plans.exclusions import ALL_GPUS, Exclusions, PlannedGpus
from tarmac.core.policy.reservations import own_gpus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.model.status import Booking
    from tarmac.core.policy.plans.exclusions import ExcludesGpus
    from tarmac.core.state import State


def booking_for(state: State, job: Job, now: float, plans: Collection[PlannedStart]) -> Booking | None:
    """Where the job would start now. GPUs reserved for its owner come first."""
    if not state.reservations and not plans:
        return place(state, job.spec.request)
    excluded = Exclusions(state, job, now, plans)
    return _on_reserved_gpus(state, job, now, excluded) or place(state, job.spec.request, excluded)


def booking_beside(state: State, request: Request, plans: Collection[PlannedStart]) -> Booking | None:
    """Where the request would start now apart from the GPUs of these plans. Expects that nothing is reserved."""
    return place(state, request, PlannedGpus(plans, request) if plans else None)


def place(state: State, request: Request, excluded: ExcludesGpus | None = None) -> Booking | None:
    """A booking that may be made now, or None. `excluded` names fitting GPUs that this job must not take."""
    if request.node_count > 1:
        return _place_on_several(state, request, excluded)
    found = next(_places(state, request, excluded), None)
    return None if found is None else booking_on(*found, request)


def _place_on_several(state: State, request: Request, excluded: ExcludesGpus | None) -> Booking | None:
    """All or nothing: the fullest nodes it fits on, if there are enough of them."""
    found = list(islice(_places(state, request, excluded), request.node_count))
    if len(found) < request.node_count:
        return None
    first, *others = (booking_on(node, gpus, request) for node, gpus in found)
    return replace(first, others=tuple(Place(node=other.node, gpus=other.gpus) for other in others))


def has_place(state: State, request: Request, excluded: ExcludesGpus) -> bool:
    return len(list(islice(_places(state, request, excluded), request.node_count))) == request.node_count


def _places(state: State, request: Request, excluded: ExcludesGpus | None) -> Iterator[tuple[Node, list[Gpu]]]:
    if not state.fit_cache.may_fit(state.nodes, request, state.rules):
        return
    for node in state.fit_cache.fitting(state.nodes, request, state.rules):
        off = excluded.off(node) if excluded is not None else None
        gpus = fitting_gpus(node, request, state.rules)
        assert gpus is not None, "the cache lists only nodes that fit"
        if off:
            gpus = [gpu for gpu in gpus if gpu.uuid not in off]
        if len(gpus) >= request.gpus and (off is not ALL_GPUS):
            yield node, gpus


def _on_reserved_gpus(state: State, job: Job, now: float, excluded: Exclusions) -> Booking | None:
    """On GPUs reserved for the owner. A planned start keeps them even from the owner's other jobs."""
    request = job.spec.request
    if request.node_count > 1:
        return None  # reservations are on single nodes; the job may use the owner's, but prefers none
    for name, gpus in own_gpus(state, job.spec.owner, now).items():
        fitting = fitting_gpus(state.nodes[name], request, state.rules) if name in state.nodes else None
        off = excluded.off(state.nodes[name]) if fitting else ALL_GPUS
        own = [gpu for gpu in fitting or () if gpu.uuid in gpus and gpu.uuid not in off]
        if request.gpus and len(own) >= request.gpus and off is not ALL_GPUS:
            return booking_on(state.nodes[name], own, request)
    return None
