"""When a request could start on each node, by the expected ends of the jobs that run there."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.fit.gpu_fit import OutsideUse, Taken, has_conditions, refusal_of, suits
from tarmac.core.fit.node_fit import chosen_gpus, fitting_gpus, is_short_of_memory
from tarmac.core.fit.what_if import without
from tarmac.core.model.job import Request
from tarmac.core.model.plan import ENDLESS, ENDS, FOREIGN, FREE, NEVER, EarliestStart, GpuAvailability
from tarmac.core.policy.exclusions import Exclusions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import RestsOn
    from tarmac.core.runtimes import End
    from tarmac.core.state import State

WHOLE_GPU = Request()
NO_GPUS: frozenset[GpuUuid] = frozenset()


def earliest_starts(state: State, job: Job, now: float) -> Mapping[NodeName, EarliestStart]:
    """The earliest start on each node. GPUs reserved for other owners are left out."""
    request = job.spec.request
    cached = _refreshed(state, request, now)
    if not state.reservations:
        return cached
    excluded = Exclusions(state, job, now, None)
    return {
        name: earliest_start_on(state, node, request, now, off) if (off := excluded.reserved(node)) else cached[name]
        for name, node in state.nodes.items()
    }


def _refreshed(state: State, request: Request, now: float) -> dict[NodeName, EarliestStart]:
    """The cached starts of the request, computed anew for nodes that changed or whose expectation ran out."""
    known, stale = state.fit_cache.starts_of(request, state.nodes, now)
    for name in stale:
        known[name] = earliest_start_on(state, state.nodes[name], request, now, NO_GPUS)
    return known


def earliest_start_on(state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]) -> EarliestStart:
    if not node.is_connected or not 0 < request.gpus <= len(node.gpus):
        return NEVER  # no start is planned for jobs without GPUs either: one slot is as good as another
    if request.is_shared or request.memory_bytes or request.cpus or node.slots:
        return _by_release(state, node, request, now, off)
    gpus = _available(state, node, request, now, off)[: request.gpus]
    if len(gpus) < request.gpus:
        return NEVER
    latest = gpus[-1]
    is_known = latest.kind <= ENDS and not is_short_of_memory(node, state.rules)
    return EarliestStart(
        at=latest.at if is_known else None,
        gpus=tuple(one.gpu for one in gpus),
        free=sum(one.kind == FREE for one in gpus),
        rests_on=frozenset().union(*(one.rests_on for one in gpus)),
        good_until=min(one.good_until for one in gpus),
    )


def _available(
    state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]
) -> list[GpuAvailability]:
    """The GPUs that suit the request, best first. All requests for whole GPUs share one cached list per node."""
    if request.idle_below is not None:
        gpus = sorted(availability(state, node, request, now))
    elif (cached := state.fit_cache.availability_on(node.name, now)) is not None:
        gpus = cached
    else:
        gpus = sorted(availability(state, node, WHOLE_GPU, now))
        state.fit_cache.availability[node.name] = gpus
    has_instances = request.gpus > 1 and any(gpu.parent is not None for gpu in node.gpus.values())
    if not off and not has_instances and not has_conditions(request):
        return gpus
    return [one for one in gpus if one.gpu not in off and _suits(state, node.gpus[one.gpu], request)]


def _suits(state: State, gpu: Gpu, request: Request) -> bool:
    """Unless the request names GPUs one by one, GPUs of the same model and size are alike."""
    if request.gpus_on or request.exclude_gpus or gpu.parent is not None:
        return suits(gpu, request, state.rules) is None
    alike = state.fit_cache.alike.setdefault(request, {})
    kind = (gpu.model, gpu.memory_total_bytes)
    known = alike.get(kind)
    if known is None:
        known = alike[kind] = suits(gpu, request, state.rules) is None
    return known


def availability(state: State, node: Node, request: Request, now: float) -> Iterator[GpuAvailability]:
    """When each GPU that could serve the request comes free, in index order."""
    for gpu in node.gpus.values():
        reason = refusal_of(node, gpu, request, state.rules)
        if reason is None:
            yield GpuAvailability(FREE, 0.0, gpu.index, gpu.uuid)
        elif isinstance(reason, Taken):
            end = _last_end(state.runtimes.end_of(state.jobs[job], now) for job in reason.jobs)
            if end is None:
                yield GpuAvailability(ENDLESS, 0.0, gpu.index, gpu.uuid)
            else:
                yield GpuAvailability(ENDS, end.at, gpu.index, gpu.uuid, end.rests_on, end.good_until)
        elif isinstance(reason, OutsideUse):
            yield GpuAvailability(FOREIGN, 0.0, gpu.index, gpu.uuid)


class LastEnd(NamedTuple):
    at: float
    rests_on: frozenset[RestsOn]
    good_until: float


def _last_end(ends: Iterable[End | None]) -> LastEnd | None:
    """When the last of several jobs ends; None if the end of one is not known."""
    known: list[End] = []
    for end in ends:
        if end is None:
            return None
        known.append(end)
    return LastEnd(max(end.at for end in known), _basis(known), _good_until(known))


def _basis(ends: list[End]) -> frozenset[RestsOn]:
    return frozenset(end.rests_on for end in ends)


def _good_until(ends: list[End]) -> float:
    """A job that runs longer than its history suggests may run for any time."""
    return min((end.at for end in ends if end.rests_on == "history"), default=inf)


def _by_release(state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]) -> EarliestStart:
    """The general case, for parts of GPUs and of the host: let jobs end one after the other until it fits."""
    ends = {job: state.runtimes.end_of(state.jobs[job], now) for job in node.host}
    known = sorted((end.at, job) for job, end in ends.items() if end is not None)
    unknown = [job for job, end in ends.items() if end is None]
    gone: list[JobId] = []
    for at, job in [(0.0, None), *known, *((inf, job) for job in unknown)]:
        if job is not None:
            gone.append(job)
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
                good_until=_good_until(awaited),
            )
    return NEVER
