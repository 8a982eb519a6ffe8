"""When a request could start on each node, by the expected ends of the jobs that run there."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, NamedTuple, get_args

from tarmac.core.fit.closure import closure
from tarmac.core.fit.gpu_fit import OutsideUse, Taken, has_conditions, is_plainly_free, refusal_of, suits
from tarmac.core.fit.node_fit import chosen_gpus, fitting_gpus, is_short_of_memory
from tarmac.core.fit.what_if import without
from tarmac.core.model.job import Request
from tarmac.core.model.plan import CERTAIN, ENDLESS, ENDS, FOREIGN, FREE, NEVER, EarliestStart, GpuAvailability, RestsOn
from tarmac.core.policy.plans.exclusions import NO_GPUS, Exclusions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from tarmac.core.fit.fit_cache import Fits
    from tarmac.core.fit.start_cache import Ends, StartOrder
    from tarmac.core.fit.touched_nodes import PerNode
    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.runtimes import End
    from tarmac.core.state import State

WHOLE_GPU = Request()


def soonest_start(
    state: State, job: Job, now: float, excluded: Collection[NodeName] = ()
) -> tuple[NodeName, EarliestStart] | None:
    """Where the job could start first, apart from excluded nodes; None if no such moment is known.

    If several nodes are equal, the one that joined first. GPUs reserved for other owners are left out.
    """
    request = job.spec.request
    reserved = _reserved(state, job, now)
    nodes = _NodesByStart(state, request, now)
    names, known = state.fit_cache.touched.names, state.fit_cache.starts.starts_of(request)
    best: tuple[NodeName, EarliestStart] | None = None
    best_place = (inf, 0)
    for bound, number in nodes.in_order():
        if (bound, number) > best_place:
            break
        name = names[number]
        if name in excluded or name in reserved or (nodes.refined(bound, number), number) > best_place:
            continue
        start = _start_on(state, name, request, now, known)
        if start.at is not None and (start.at, number) < best_place:
            best, best_place = (name, start), (start.at, number)
    for name, off in reserved.items():
        start = earliest_start_on(state, state.nodes[name], request, now, off)
        place = (inf if start.at is None else start.at, state.fit_cache.touched.numbers[name])
        if name not in excluded and place < best_place:
            best, best_place = (name, start), place
    return best


def earliest_starts(state: State, job: Job, now: float) -> dict[NodeName, EarliestStart]:
    """The earliest start on each node, in the order they joined. GPUs reserved for other owners are left out."""
    state.fit_cache.starts.expire(now)
    reserved, known = _reserved(state, job, now), state.fit_cache.starts.starts_of(job.spec.request)
    return {
        name: earliest_start_on(state, node, job.spec.request, now, off)
        if (off := reserved.get(name))
        else _start_on(state, name, job.spec.request, now, known)
        for name, node in state.nodes.items()
    }


def _reserved(state: State, job: Job, now: float) -> dict[NodeName, frozenset[GpuUuid]]:
    """By node: the GPUs that the job must not use because others reserved them."""
    if not state.reservations:
        return {}
    excluded = Exclusions(state, job, now, ())
    names = {one.node for one in state.reservations.values() if one.node in state.nodes}
    return {name: off for name in names if (off := excluded.reserved(state.nodes[name]))}


class _NodesByStart:
    """Moments before which a request cannot start, by the number of the node. For whole GPUs they are exact."""

    def __init__(self, state: State, request: Request, now: float) -> None:
        state.fit_cache.starts.expire(now)
        self._fits: Fits | None = None
        self._state, self._request, self._now = state, request, now
        if _waits_for_releases(request):
            self._fits = state.fit_cache.fits_of(state.nodes, request, state.rules)
            self._first_ends = start_order(state, None, now)

    def in_order(self) -> Iterable[tuple[float, int]]:
        """In ascending order."""
        if self._fits is None:
            return start_order(self._state, self._request, self._now).order
        if not self._request.is_shared:
            return start_order(self._state, replace(self._request, memory_bytes=0, cpus=0), self._now).order
        free = sorted(number for numbers in self._fits.by_usable.values() for number in numbers)
        return chain(((0.0, number) for number in free), self._first_ends.order)

    def refined(self, bound: float, number: int) -> float:
        """Where the request does not fit now, at least one job must end first."""
        if self._fits is None or self._state.fit_cache.touched.names[number] in self._fits.usable:
            return bound
        return max(bound, self._first_ends.at.get(number, inf))


def _waits_for_releases(request: Request) -> bool:
    """It asks for parts of GPUs or of the host, which jobs release one by one as they end."""
    return bool(request.is_shared or request.memory_bytes or request.cpus)


def start_order(state: State, request: Request | None, now: float) -> StartOrder:
    """Nodes by when the request could start there; without one, by when the first of their jobs ends."""
    touched = state.fit_cache.touched
    touched.add_new(state.nodes)
    order = state.fit_cache.starts.order_of(request)
    for name in touched.since(order.read):
        node = state.nodes[name]
        at = _first_end(state, node, now) if request is None else _start_at(state, node, request, now)
        order.put(touched.numbers[name], at)
    order.read = touched.position
    return order


def _first_end(state: State, node: Node, now: float) -> float:
    return min((end.at for end in _ends_on(state, node, now).values() if end is not None), default=inf)


def _start_at(state: State, node: Node, request: Request, now: float) -> float:
    """When a request for whole GPUs could start on the node; inf if that is not known."""
    if closure(node, request) is not None or not 0 < request.gpus <= len(node.gpus):
        return inf
    if is_short_of_memory(node, state.rules):
        return inf
    if node.slots:
        at = _by_release(state, node, request, now, NO_GPUS, 0.0).at
        return inf if at is None else at
    gpus = _available(state, node, request, now, NO_GPUS)
    if len(gpus) < request.gpus or gpus[request.gpus - 1].kind > ENDS:
        return inf
    return gpus[request.gpus - 1].at


def _start_on(
    state: State, name: NodeName, request: Request, now: float, known: PerNode[EarliestStart]
) -> EarliestStart:
    start = known.get(name)
    if start is None:
        start = known.put(name, earliest_start_on(state, state.nodes[name], request, now, NO_GPUS))
    return start


def earliest_start_on(state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]) -> EarliestStart:
    if closure(node, request) is not None or not 0 < request.gpus <= len(node.gpus):
        return NEVER  # no start is planned for jobs without GPUs either: one slot is as good as another
    if request.is_shared or node.slots:
        return _by_release(state, node, request, now, off, 0.0)
    available = _available(state, node, request, now, off)
    if len(available) < request.gpus:
        return NEVER
    latest = available[request.gpus - 1]
    if _waits_for_releases(request):
        return _by_release(state, node, request, now, off, latest.at if latest.kind <= ENDS else inf)
    gpus = _last_in_time(available, latest, request.gpus)
    is_known = latest.kind <= ENDS and not is_short_of_memory(node, state.rules)
    return EarliestStart(
        at=latest.at if is_known else None,
        gpus=tuple(one.gpu for one in gpus),
        free=sum(one.kind == FREE for one in gpus),
        rests_on=frozenset().union(*(one.rests_on for one in gpus)),
    )


def _last_in_time(available: list[GpuAvailability], latest: GpuAvailability, count: int) -> list[GpuAvailability]:
    """The GPUs that are free in time but become free last: those that are free now stay usable until then."""
    until = count
    while until < len(available) and available[until][:2] == latest[:2]:
        until += 1
    return available[until - count : until]


def _available(
    state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]
) -> list[GpuAvailability]:
    """The GPUs that suit the request, best first. All requests for whole GPUs share one cached list per node."""
    gpus: list[GpuAvailability] | None
    if request.idle_below is not None:
        gpus = sorted(availability(state, node, request, now))
    else:
        known = state.fit_cache.starts.availability
        gpus = known.get(node.name)
        if gpus is None:
            gpus = known.put(node.name, sorted(availability(state, node, WHOLE_GPU, now)))
    has_instances = request.gpus > 1 and any(gpu.parent is not None for gpu in node.gpus.values())
    if not off and not has_instances and not has_conditions(request):
        return gpus
    return [one for one in gpus if one.gpu not in off and _suits(state, node.gpus[one.gpu], request)]


def _suits(state: State, gpu: Gpu, request: Request) -> bool:
    """Unless the request names GPUs one by one, GPUs of the same model and size are alike."""
    if request.gpus_on or request.exclude_gpus or gpu.parent is not None:
        return suits(gpu, request, state.rules) is None
    alike = state.fit_cache.starts.alike_of(request)
    kind = (gpu.model, gpu.memory_total_bytes)
    known = alike.get(kind)
    if known is None:
        known = alike[kind] = suits(gpu, request, state.rules) is None
    return known


def availability(state: State, node: Node, request: Request, now: float) -> Iterator[GpuAvailability]:
    """When each GPU that could serve the request comes free, in index order."""
    ends = _ends_on(state, node, now)
    is_plain = request is WHOLE_GPU and not node.drains and not node.slots
    for gpu in node.gpus.values():
        held = node.booked.get(gpu.uuid) if is_plain else None
        if held and len(held) == 1:  # mostly, and a cluster has many GPUs
            only = ends.get(next(iter(held)))
            if only is None:
                yield GpuAvailability(ENDLESS, 0.0, gpu.index, gpu.uuid)
            else:
                yield GpuAvailability(ENDS, only.at, gpu.index, gpu.uuid, BASES[only.rests_on])
            continue
        is_free = is_plain and held is None and is_plainly_free(node, gpu)
        reason = None if is_free else refusal_of(node, gpu, request, state.rules)
        if reason is None:
            yield GpuAvailability(FREE, 0.0, gpu.index, gpu.uuid)
        elif isinstance(reason, Taken):
            end = _last_end(ends.get(job) for job in reason.jobs)
            if end is None:
                yield GpuAvailability(ENDLESS, 0.0, gpu.index, gpu.uuid)
            else:
                yield GpuAvailability(ENDS, end.at, gpu.index, gpu.uuid, end.rests_on)
        elif isinstance(reason, OutsideUse):
            yield GpuAvailability(FOREIGN, 0.0, gpu.index, gpu.uuid)


def _ends_on(state: State, node: Node, now: float) -> Ends:
    """When the jobs on the node will probably end. A job that outlives this is expected to run for longer."""
    known = state.fit_cache.starts.ends.get(node.name)
    if known is not None:
        return known
    ends = {job: state.runtimes.expected_end_of(state.jobs[job], now) for job in node.host}
    good_until = min((end.at for end in ends.values() if end is not None and end.rests_on not in CERTAIN), default=inf)
    return state.fit_cache.starts.put_ends(node.name, ends, good_until)


BASES: dict[RestsOn, frozenset[RestsOn]] = {basis: frozenset({basis}) for basis in get_args(RestsOn)}


class LastEnd(NamedTuple):
    at: float
    rests_on: frozenset[RestsOn]


def _last_end(ends: Iterable[End | None]) -> LastEnd | None:
    """When the last of several jobs ends; None if the end of one is not known."""
    known: list[End] = []
    for end in ends:
        if end is None:
            return None
        known.append(end)
    if len(known) == 1:  # mostly, and a cluster has many GPUs
        return LastEnd(known[0].at, BASES[known[0].rests_on])
    return LastEnd(max(end.at for end in known), _basis(known))


def _basis(ends: list[End]) -> frozenset[RestsOn]:
    return frozenset(end.rests_on for end in ends)


def _by_release(
    state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid], not_before: float
) -> EarliestStart:
    """The general case, for parts of GPUs and of the host: let jobs end one after the other until it fits."""
    ends = _ends_on(state, node, now)
    known = sorted((end.at, job) for job, end in ends.items() if end is not None)
    unknown = [job for job, end in ends.items() if end is None]
    gone: list[JobId] = []
    for at, job in [(0.0, None), *known, *((inf, job) for job in unknown)]:
        if job is not None:
            gone.append(job)
        if at < not_before:
            continue
        fitting = fitting_gpus(without(node, gone), request, state.rules)
        gpus = [gpu for gpu in fitting or () if gpu.uuid not in off]
        if fitting is not None and len(gpus) >= request.gpus:
            chosen = tuple(gpu.uuid for gpu in chosen_gpus(node, gpus, request))
            awaited = [end for job in gone if (end := ends[job]) is not None]
            return EarliestStart(
                at=None if at == inf else at,
                gpus=chosen,
                free=sum(uuid not in node.booked for uuid in chosen),
                rests_on=_basis(awaited),
            )
    return NEVER
