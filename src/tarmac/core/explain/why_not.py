"""Why no node has room for a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.explain.reasons import (
    CpuSlotsTaken,
    HostBooked,
    HostShort,
    NeverFits,
    NoNode,
    Reason,
    TooFewGpus,
    TooFewNodesFree,
)
from tarmac.core.fit.closure import NodeNotAllowed, NodeWatchOnly, closure
from tarmac.core.fit.gpu_fit import refusal_of
from tarmac.core.fit.node_fit import (
    booked_cpus,
    booked_memory_bytes,
    cpu_jobs,
    cpu_slots,
    fits,
    has_capacity,
    is_short_of_memory,
)
from tarmac.core.policy.feasibility import chosen_nodes, lack, pinned_away
from tarmac.core.policy.placement import place

if TYPE_CHECKING:
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules
    from tarmac.core.state import State


def why_not(state: State, request: Request) -> tuple[Reason, ...]:
    """Reasons that hold for every job with this request, node by node."""
    if not any(node.is_connected for node in state.nodes.values()):
        return (NoNode(),)
    if place(state, request) is not None:
        return ()
    nodes = [node for node in state.nodes.values() if not fits(node, request, state.rules)]
    reasons = tuple(reason for node in nodes for reason in _why_not_on(node, request, state.rules))
    if request.node_count > 1:
        free = len(state.nodes) - len(nodes)
        reasons = (TooFewNodesFree(asked=request.node_count, free=free, gpus=request.gpus), *reasons)
    lacking = lack(state, request) or pinned_away(state, request)
    if lacking is None:
        return reasons
    return (NeverFits(lack=lacking, nodes=len(state.nodes), only=chosen_nodes(state, request)), *reasons)


def _why_not_on(node: Node, request: Request, rules: Rules) -> tuple[Reason, ...]:
    closed = closure(node, request)
    if isinstance(closed, NodeNotAllowed | NodeWatchOnly):
        return ()  # the job does not wait for it; the explainer names what is missing there
    if closed is not None:
        return (closed,)
    return (*_why_not_the_host(node, request, rules), *_why_not_the_gpus(node, request, rules))


def _why_not_the_host(node: Node, request: Request, rules: Rules) -> list[Reason]:
    found: list[Reason] = []
    if request.gpus == 0 and cpu_jobs(node) >= cpu_slots(node, rules):
        found.append(CpuSlotsTaken(node=node.name, slots=cpu_slots(node, rules)))
    if is_short_of_memory(node, rules):
        available = node.memory_available_bytes or 0
        kept = int(rules.keep_host_memory * node.memory_total_bytes)
        found.append(HostShort(node=node.name, available_bytes=available, kept_bytes=kept))
    for what, asked, booked, total in (
        ("memory", request.memory_bytes, booked_memory_bytes(node), node.memory_total_bytes),
        ("cpus", request.cpus, booked_cpus(node), node.cpus),
    ):
        if not has_capacity(booked, asked, total):
            found.append(HostBooked(node=node.name, what=what, asked=asked, free=max(0, total - booked), total=total))
    return found


def _why_not_the_gpus(node: Node, request: Request, rules: Rules) -> list[Reason]:
    refused = [(gpu.uuid, refusal_of(node, gpu, request, rules)) for gpu in node.gpus.values()]
    gpus = tuple((_name(node, uuid), reason) for uuid, reason in refused if reason is not None)
    free = len(refused) - len(gpus)
    if free >= request.gpus:
        return []
    return [TooFewGpus(node=node.name, asked=request.gpus, free=free, total=len(refused), gpus=gpus)]


def _name(node: Node, gpu: GpuUuid) -> int | GpuUuid:
    index = node.index_now(gpu)
    return gpu if index is None else index
