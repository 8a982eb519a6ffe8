"""Why a job waits, as data, from the same functions that decide. Empty exactly when it would start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model import Queued
from tarmac.core.policy.placed import could_ever_fit, fits, place

if TYPE_CHECKING:
    from tarmac.core.model import Job, JobId, Node, NodeName, Request
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
    free: int
    total: int
    held_by: tuple[JobId, ...]  # jobs that have the node's cards, by card index


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSlotsTaken:
    node: NodeName
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverFits:
    """No node has that many cards now, not even idle. It waits in case they come back."""

    asked: int
    most: int


Reason: TypeAlias = NoNode | NodeAway | TooFewGpus | CpuSlotsTaken | NeverFits


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
    if not could_ever_fit(state, request):
        return (NeverFits(asked=request.gpus, most=max(len(node.gpus) for node in state.nodes.values())),)
    return tuple(_why_not_on(node, request) for node in state.nodes.values() if not fits(node, request))


def _why_not_on(node: Node, request: Request) -> Reason:
    if not node.is_connected:
        return NodeAway(node=node.name)
    if request.gpus == 0:
        return CpuSlotsTaken(node=node.name, slots=node.cpu_job_slots)
    held_by = dict.fromkeys(node.booked[uuid] for uuid in node.gpus if uuid in node.booked)
    return TooFewGpus(
        node=node.name,
        asked=request.gpus,
        free=len(node.free_gpus()),
        total=len(node.gpus),
        held_by=tuple(held_by),
    )
