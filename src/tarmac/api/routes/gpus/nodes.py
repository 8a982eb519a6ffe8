"""Nodes: list and show them, drain and resume them."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus.nodes import NodeDrainRequest, NodeList, NodeView
from tarmac.api.views.node import node_view, node_views
from tarmac.controller.engine.decision import Decision
from tarmac.core.events import NodesDrained, NodesResumed
from tarmac.core.model.ids import NodeName


async def list_nodes(context: Context) -> NodeList:
    """Every node: its state, what runs there, and whether jobs may start."""
    await context.controller.fleet.check_liveness()
    return NodeList(nodes=node_views(context.controller))


async def show_node(context: Context, name: str) -> NodeView:
    """Show one node."""
    await context.controller.fleet.check_liveness()
    return node_view(context.controller, name)


async def drain_node(context: Context, name: str, body: NodeDrainRequest) -> NodeView:
    """Start no more jobs on the node. Running jobs continue."""
    node = NodeName(node_view(context.controller, name).name)
    event = NodesDrained(nodes=(node,), by=context.caller.name, reason=body.reason or None)
    await context.decide(lambda _: Decision(answer=None, events=[event]))
    return node_view(context.controller, name)


async def resume_node(context: Context, name: str) -> NodeView:
    """Let jobs start on the node again, whether a person or Tarmac drained it."""
    node = NodeName(node_view(context.controller, name).name)
    await context.decide(lambda _: Decision(answer=None, events=[NodesResumed(nodes=(node,))]))
    return node_view(context.controller, name)
