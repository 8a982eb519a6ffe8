"""Nodes: list and show them, drain and resume them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus.nodes import NodeDrainRequest, NodeList, NodeView
from tarmac.api.views.node import node_view, node_views
from tarmac.api.wording.times import iso
from tarmac.controller.engine.decision import Decision
from tarmac.core.events import NodesDrained, NodesResumed
from tarmac.core.model.ids import NodeName

if TYPE_CHECKING:
    from tarmac.core.state import State


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
    controller, by, reason = context.controller, context.caller.name, body.reason or None

    def plan(_: State) -> Decision[NodeView]:
        view = node_view(controller, name)
        event = NodesDrained(nodes=(NodeName(view.name),), by=by, reason=reason)
        return Decision(answer=_after(view, controller.now(), by=by, reason=reason), events=[event])

    return await context.decide(plan)


async def resume_node(context: Context, name: str) -> NodeView:
    """Let jobs start on the node again, whether a person or Tarmac drained it."""
    controller = context.controller

    def plan(_: State) -> Decision[NodeView]:
        view = node_view(controller, name)
        answer = _after(view, controller.now(), by=None, reason=None)
        return Decision(answer=answer, events=[NodesResumed(nodes=(NodeName(view.name),))])

    return await context.decide(plan)


def _after(view: NodeView, now: float, *, by: str | None, reason: str | None) -> NodeView:
    """The node once it is drained; with nobody who drains it, once it is resumed."""
    view = replace(view, drained=by is not None, drained_by=by, drain_reason=reason)
    if view.state not in {"reachable", "drained"}:
        return view
    since = str(iso(now)) if by is not None else view.connected_at or view.since
    return replace(view, state="drained" if by is not None else "reachable", reason=reason, since=since)
