"""Nodes and their GPUs: which exist, what they read, what people decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.events import (
    GpusDrained,
    GpusForgotten,
    GpusResumed,
    GpusSeen,
    NodeAdded,
    NodeForgotten,
    NodeLeft,
    NodeRemoved,
    NodesDrained,
    NodesResumed,
    RulesSet,
    SlotsSet,
)
from tarmac.core.handlers import node_decisions
from tarmac.core.handlers.node_decisions import NodeDecision
from tarmac.core.model.gpu import Drain

if TYPE_CHECKING:
    from tarmac.core.commands import Command
    from tarmac.core.events import NodeSampled
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.node import Node
    from tarmac.core.state import State

GpuDecision: TypeAlias = GpusDrained | GpusResumed | GpusForgotten | SlotsSet  # by people
NodeEvent: TypeAlias = NodeLeft | GpusSeen | RulesSet | GpuDecision | NodeDecision


def sample(state: State, event: NodeSampled) -> None:
    node = state.node(event.node)
    node.uses = dict(event.uses)
    node.memory_available_bytes = event.memory_available_bytes
    node.taken_bytes = {}
    for job, gpu, taken in event.taken:
        node.taken_bytes.setdefault(job, {})[gpu] = taken
    state.touch(node)


def change(state: State, event: NodeEvent, now: float) -> list[Command]:
    match event:
        case RulesSet():
            state.set_rules(event.rules)
        case NodeLeft():
            left = state.nodes.get(event.node)
            if left is not None:  # a node that was removed leaves later
                left.is_connected = False
                state.touch(left)
        case GpusSeen():
            node = state.node(event.node)
            node.gpus = {gpu.uuid: gpu for gpu in event.gpus}
            node.has_reported_gpus = True
            state.touch(node)
        case GpusDrained() | GpusResumed() | GpusForgotten() | SlotsSet():
            for gpu in event.gpus:
                _decide(state, state.node(event.node), gpu, event, now)
        case NodeAdded() | NodesDrained() | NodesResumed() | NodeRemoved() | NodeForgotten():
            return node_decisions.change(state, event, now)
        case _:
            assert_never(event)
    return []


def _decide(state: State, node: Node, gpu: GpuUuid, decision: GpuDecision, now: float) -> None:
    match decision:
        case GpusDrained():
            state.set_drain(node, gpu, Drain(reason=decision.reason, by=decision.by, since=now))
        case GpusResumed():
            state.set_drain(node, gpu, None)
        case GpusForgotten():
            state.forget_gpu(node, gpu)
        case SlotsSet():
            state.set_slots(node, gpu, decision.slots)
        case _:
            assert_never(decision)
