"""Which node a request about a process means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.ids import NodeName
from tarmac.refusal import invalid, not_found, unavailable

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.node import Node


def node_of_process(controller: Controller, named: str | None, pid: int) -> Node:
    """The named node; else the only node, or the only one whose GPUs show a process with this pid."""
    nodes = controller.state.nodes
    if named is not None:
        if named not in nodes:
            raise not_found("node.unknown", node=named, known=list(nodes))
        return nodes[NodeName(named)]
    if not nodes:
        raise unavailable("agent.none_connected")
    found = (
        list(nodes.values()) if len(nodes) == 1 else [node for node in nodes.values() if _shows(controller, node, pid)]
    )
    if len(found) != 1:
        raise invalid("node.not_named", pid=pid, known=list(nodes))
    return found[0]


def _shows(controller: Controller, node: Node, pid: int) -> bool:
    return any(process.pid == pid for reading in controller.readings.of(node.name) for process in reading.processes)
