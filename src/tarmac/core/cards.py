"""What is known of nodes and their cards: which there are, what they read, what people said about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.events import GpusDrained, GpusResumed, GpusSeen, NodeLeft, RulesSet, SlotsSet
from tarmac.core.model import Drain

if TYPE_CHECKING:
    from tarmac.core.events import NodeSampled
    from tarmac.core.state import State

CardEvent: TypeAlias = NodeLeft | GpusSeen | GpusDrained | GpusResumed | SlotsSet | RulesSet


def sample(state: State, event: NodeSampled) -> None:
    node = state.node(event.node)
    node.uses = dict(event.uses)
    node.memory_available_bytes = event.memory_available_bytes
    node.taken_bytes = {}
    for job, gpu, taken in event.taken:
        node.taken_bytes.setdefault(job, {})[gpu] = taken
    state.touch(node)


def change(state: State, event: CardEvent, now: float) -> None:
    match event:
        case RulesSet():
            state.set_rules(event.rules)
        case NodeLeft():
            node = state.node(event.node)
            node.is_connected = False
            state.touch(node)
        case GpusSeen():
            node = state.node(event.node)
            node.gpus = {gpu.uuid: gpu for gpu in event.gpus}
            node.has_told_gpus = True
            state.touch(node)
        case GpusDrained():
            for gpu in event.gpus:
                state.set_drain(state.node(event.node), gpu, Drain(reason=event.reason, by=event.by, since=now))
        case GpusResumed():
            for gpu in event.gpus:
                state.set_drain(state.node(event.node), gpu, None)
        case SlotsSet():
            for gpu in event.gpus:
                state.set_slots(state.node(event.node), gpu, event.slots)
        case _:
            assert_never(event)
