"""Why a job waits, as data, from the same functions that decide. Empty exactly when it would start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model import Queued
from tarmac.core.policy.card import CardReason, refusal_of
from tarmac.core.policy.lacking import Lack, lack, pinned_away
from tarmac.core.policy.placed import (
    booked_cpus,
    booked_memory_bytes,
    cpu_jobs,
    cpu_slots,
    fits,
    has_room,
    is_short_of_memory,
    place,
)

if TYPE_CHECKING:
    from tarmac.core.model import GpuUuid, Job, Node, NodeName, Request, Rules
    from tarmac.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class NoNode:
    """No machine is in reach at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAway:
    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewGpus:
    node: NodeName
    asked: int
    free: int  # cards that would do right now
    total: int
    cards: tuple[tuple[int | GpuUuid, CardReason], ...]  # name and reason of each that would not


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSlotsTaken:
    node: NodeName
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostShort:
    """Less memory is available on the host than `keep_host_memory` holds back."""

    node: NodeName
    available_bytes: int
    kept_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBooked:
    """The memory or processors of the host are booked by other jobs."""

    node: NodeName
    what: str  # memory or cpus
    asked: int
    free: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverFits:
    """No node could run it now, not even idle. It waits in case that changes."""

    lack: Lack


Reason: TypeAlias = NoNode | NodeAway | TooFewGpus | CpuSlotsTaken | HostShort | HostBooked | NeverFits


def explain(state: State, job: Job) -> tuple[Reason, ...]:
    if not isinstance(job.status, Queued):
        return ()
    return why_not(state, job.spec.request)


def why_not(state: State, request: Request) -> tuple[Reason, ...]:
    """Reasons that hold for every job with this request, node by node."""
    if not any(node.is_connected for node in state.nodes.values()):
        return (NoNode(),)
    if place(state, request) is not None:
        return ()
    nodes = [node for node in state.nodes.values() if not fits(node, request, state.rules)]
    reasons = tuple(reason for node in nodes for reason in _why_not_on(node, request, state.rules))
    lacking = lack(state, request) or pinned_away(state, request)
    return reasons if lacking is None else (NeverFits(lack=lacking), *reasons)


def _why_not_on(node: Node, request: Request, rules: Rules) -> tuple[Reason, ...]:
    if not node.is_connected:
        return (NodeAway(node=node.name),)
    return (*_why_not_the_host(node, request, rules), *_why_not_the_cards(node, request, rules))


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
        if not has_room(booked, asked, total):
            found.append(HostBooked(node=node.name, what=what, asked=asked, free=max(0, total - booked), total=total))
    return found


def _why_not_the_cards(node: Node, request: Request, rules: Rules) -> list[Reason]:
    refused = [(gpu.uuid, refusal_of(node, gpu, request, rules)) for gpu in node.gpus.values()]
    cards = tuple((_name(node, uuid), reason) for uuid, reason in refused if reason is not None)
    free = len(refused) - len(cards)
    if free >= request.gpus:
        return []
    return [TooFewGpus(node=node.name, asked=request.gpus, free=free, total=len(refused), cards=cards)]


def _name(node: Node, gpu: GpuUuid) -> int | GpuUuid:
    index = node.index_now(gpu)
    return gpu if index is None else index
