"""What people decide about whole nodes: add, drain, resume, remove and forget them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.events import NodeAdded, NodeForgotten, NodeRemoved, NodesDrained, NodesResumed
from tarmac.core.handlers.attempts import parts
from tarmac.core.handlers.attempts.run_outcomes import unknown
from tarmac.core.handlers.attempts.runs import apply_noted, lose
from tarmac.core.model.node import NodeDrain
from tarmac.core.model.note import note
from tarmac.core.model.status import Booked

if TYPE_CHECKING:
    from tarmac.core.commands import Command
    from tarmac.core.state import State

NodeDecision: TypeAlias = NodeAdded | NodesDrained | NodesResumed | NodeRemoved | NodeForgotten


def change(state: State, event: NodeDecision, now: float) -> list[Command]:
    match event:
        case NodeAdded():
            state.add_node(event.node, is_watch_only=event.is_watch_only)
        case NodesDrained():
            for name in event.nodes:
                state.set_node_drain(state.node(name), NodeDrain(reason=event.reason, by=event.by, since=now))
        case NodesResumed():
            for name in event.nodes:
                state.set_node_drain(state.node(name), None)
                state.quick_failures.pop(name, None)
        case NodeRemoved():
            if event.node in state.nodes and not state.nodes[event.node].host:
                state.remove_node(event.node)
        case NodeForgotten():
            return _forget(state, event, now)
        case _:
            assert_never(event)
    return []


def _forget(state: State, event: NodeForgotten, now: float) -> list[Command]:
    """End every attempt there as unknown, and drop the node. An attempt that had not begun counts as begun.

    The parts of an attempt on other nodes are stopped; it ends when they have ended.
    """
    node = state.nodes.get(event.node)
    if node is None or node.is_connected:
        return []
    commands: list[Command] = []
    for job in [state.jobs[number] for number in node.host]:
        assert isinstance(job.status, Booked), "only jobs with a booking are on a node"
        message = note("unknown.node_forgotten", node=event.node, by=event.by)
        if parts.has_parts(job):
            commands += apply_noted(state, job, parts.note_forgotten(state, job, event.node, message, now), now)
            continue
        lose(state, job, unknown(job.status, message, now), "NodeForgotten", now, now, {})
    state.remove_node(event.node)
    return commands
