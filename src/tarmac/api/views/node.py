"""The machines that jobs run on, with the state of their agents and of their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.times import iso

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.nodes.session import AgentSession


def node_views(controller: Controller) -> list[NodeView]:
    """Every configured node, the controller's own machine first."""
    return [_node(controller, session) for session in controller.fleet]


def _node(controller: Controller, session: AgentSession) -> NodeView:
    hello, host = session.hello, controller.readings.hosts.get(session.name)
    elapsed_s = session.away_s if session.connected_s is None else session.connected_s
    if session.away_s is not None:
        host = None  # old
    return NodeView(
        name=session.name,
        connected=session.is_connected,
        since=str(iso(controller.now() - (elapsed_s or 0))),
        problem=_problem(session),
        agent_pid=None if hello is None else hello.pid,
        gpus=len(controller.state.node(session.name).gpus),
        cpus=None if hello is None else hello.cpus,
        memory_total_bytes=(None if hello is None else hello.memory_bytes) if host is None else host.memory_total_bytes,
        memory_available_bytes=None if host is None else host.memory_available_bytes,
    )


def _problem(session: AgentSession) -> str | None:
    if session.is_connected:
        return None
    if session.problem is not None:
        return say("node.unreachable", error=session.problem)
    return say("node.lost") if session.is_lost else say("node.joining")
