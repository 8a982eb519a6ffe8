"""When a job could start on a node, GPU by GPU, by known ends. For display; no decision uses it."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tarmac.core.fit.gpu_fit import Drained, OutsideUse, Taken, TooLittleMemory, Unsuitable, refusal_of
from tarmac.core.fit.node_fit import host_fits, is_short_of_memory
from tarmac.core.fit.what_if import without
from tarmac.core.forecast.expected_end import NO_PROGRESS, expected_end
from tarmac.core.policy.reservations import in_the_way
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.forecast.expected_end import Progress
    from tarmac.core.forecast.held_back import HeldBack
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import RestsOn
    from tarmac.core.state import State

NOTHING: frozenset[RestsOn] = frozenset()


@dataclass(slots=True)
class Slot:
    """When a GPU comes free, and what that rests on. A gap before a planned start has an end."""

    gpu: GpuUuid
    at: float
    rests_on: frozenset[RestsOn]
    until: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first moment at which enough GPUs of a node are available; inf: not known."""

    at: float
    node: NodeName
    slots: tuple[Slot, ...]
    rests_on: frozenset[RestsOn]
    others: tuple[Opening, ...] = ()  # of a job on several nodes: on the other nodes, at the same moment


def slots_of(state: State, node: Node, now: float, progress: Progress = NO_PROGRESS) -> list[Slot]:
    found: list[Slot] = []
    for uuid in node.gpus:
        ends = [expected_end(state, state.jobs[job], now, progress) for job in node.booked.get(uuid, ())]
        known = [end for end in ends if end is not None]
        at = max((end.at for end in known), default=now) if len(known) == len(ends) else inf
        found.append(Slot(uuid, max(now, at), frozenset(end.rests_on for end in known)))
    return found


def opening_on(
    state: State,
    node: Node,
    job: Job,
    slots: list[Slot],
    start_at: float,
    held_back: HeldBack,
    progress: Progress = NO_PROGRESS,
) -> Opening | None:
    """From `start_at` on; None if the node could not serve the job even when empty, or its GPUs stay held back."""
    usable = [slot for slot in slots if _could_serve(state, node, slot.gpu, job)]
    if len({slot.gpu for slot in usable}) < job.spec.request.gpus:
        return None
    host_at, host_rests_on = _host_at(state, node, job, start_at, progress)
    moments = {max(host_at, slot.at) for slot in usable}
    ends = {one.ends_at for one in state.reservations.values() if one.node == node.name and one.ends_at > host_at}
    for at in sorted(moments | ends):
        chosen = _chosen_at(state, node, job, usable, at, held_back.off(job, node, at))
        if chosen is not None:
            awaited: frozenset[RestsOn] = frozenset({"reservation"}) if at in ends and at < inf else NOTHING
            rests_on = host_rests_on.union(awaited, *(slot.rests_on for slot in chosen))
            return Opening(at=at, node=node.name, slots=chosen, rests_on=rests_on)
    return None


def _chosen_at(
    state: State, node: Node, job: Job, usable: list[Slot], at: float, held_back: frozenset[GpuUuid]
) -> tuple[Slot, ...] | None:
    """GPUs that are free by then and neither held back nor reserved for another owner: as in plans, the last ones."""
    off = held_back
    if state.reservations and at < inf:
        end = state.runtimes.end_if_started(job.spec, at)
        off |= {gpu for one in in_the_way(state, job.spec, node.name, at, end) for gpu in one.gpus}
    open_then = (slot for slot in usable if slot.at <= at and (at < slot.until or slot.until == inf))
    free = sorted((slot for slot in open_then if slot.gpu not in off), key=lambda one: one.at)
    wanted = job.spec.request.gpus
    return tuple(free[len(free) - wanted :]) if len(free) >= wanted else None


def _host_at(
    state: State, node: Node, job: Job, start_at: float, progress: Progress
) -> tuple[float, frozenset[RestsOn]]:
    """When the host has the memory and CPUs that the job asks for, by current bookings."""
    request = job.spec.request
    if host_fits(node, request, state.rules):
        return start_at, NOTHING
    if is_short_of_memory(node, state.rules):
        return inf, NOTHING
    ends = {holder: expected_end(state, state.jobs[holder], start_at, progress) for holder in node.host}
    known = sorted((end.at, holder, end.rests_on) for holder, end in ends.items() if end is not None)
    gone: list[JobId] = []
    rests_on: set[RestsOn] = set()
    for at, holder, why in known:
        gone.append(holder)
        rests_on.add(why)
        if host_fits(without(node, gone), request, state.rules):
            return max(start_at, at), frozenset(rests_on)
    return inf, NOTHING


def _could_serve(state: State, node: Node, uuid: GpuUuid, job: Job) -> bool:
    """Could the GPU serve the job once its current jobs have ended?"""
    reason = refusal_of(node, node.gpus[uuid], job.spec.request, state.rules)
    match reason:
        case None | Taken() | TooLittleMemory():
            return True
        case Unsuitable() | Drained() | OutsideUse():
            return False
