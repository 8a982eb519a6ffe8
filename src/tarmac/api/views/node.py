"""The machines that jobs run on, with the state of their agents and of their memory."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.notes import words
from tarmac.api.wording.refusals import refusal
from tarmac.api.wording.times import iso
from tarmac.controller.nodes.link_failures import refused_link
from tarmac.nodes.ssh.failure import LinkFailed
from tarmac.refusal import not_found

if TYPE_CHECKING:
    from tarmac.api.schemas.gpus.nodes import NodeState
    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.node import Node
    from tarmac.core.state import State
    from tarmac.nodes.session import AgentSession

REBOOT_SHOWN_S = 600.0


def node_views(controller: Controller) -> list[NodeView]:
    """Every configured node, the controller's own machine first; then nodes that only jobs still hold."""
    state, queued = controller.state, _queued(controller.state)
    sessions = {session.name: session for session in controller.fleet}
    gone = [node for node in state.nodes.values() if node.name not in sessions and node.host]
    return [
        *(_node(controller, session, queued) for session in sessions.values()),
        *(_removed(controller, node) for node in gone),
    ]


def node_view(controller: Controller, name: str) -> NodeView:
    """One node. Raises Refused if there is none with this name."""
    views = {view.name: view for view in node_views(controller)}
    if name not in views:
        near = get_close_matches(name, list(views), n=1)
        raise not_found("submit.node_unknown", node=name, near=near[0] if near else None, known=list(views))
    return views[name]


def _queued(state: State) -> Counter[NodeName]:
    """By node: the waiting jobs that may run there. Most jobs may run anywhere and are counted once."""
    found: Counter[NodeName] = Counter()
    anywhere = 0
    for own in state.queue.owners.values():
        for key, klass in own.classes.items():
            if key.request.only_nodes or key.request.exclude_nodes or key.request.nodes_lacking:
                found.update(dict.fromkeys(filter(key.request.allows, state.nodes), len(klass.waiting)))
            else:
                anywhere += len(klass.waiting)
    return Counter({name: anywhere + found[name] for name, node in state.nodes.items() if not node.is_watch_only})


def _node(controller: Controller, session: AgentSession, queued: Counter[NodeName]) -> NodeView:
    hello, host = session.hello, controller.readings.hosts.get(session.name)
    node, now = controller.state.node(session.name), controller.now()
    drain = node.drain
    if session.away_s is not None:
        host = None  # old
    state = _state(session, node)
    problem = _problem(controller, session)
    entry = controller.nodes.entries.get(session.name)
    return NodeView(
        name=session.name,
        kind=session.kind,
        address=session.address,
        state=state,
        reason=_drain_reason(node) if state == "drained" else problem or _silence(session),
        since=str(iso(drain.since if state == "drained" and drain is not None else now - _elapsed_s(session))),
        connected=session.is_connected,
        connected_at=None if session.connected_s is None else iso(now - session.connected_s),
        problem=problem,
        version=None if hello is None else hello.version,
        boot_id=None if hello is None else hello.boot_id,
        agent_pid=None if hello is None else hello.pid,
        containment=None if hello is None else hello.containment,
        watch_only=node.is_watch_only,
        drained=drain is not None,
        drained_by=None if drain is None else drain.by,
        drain_reason=_drain_reason(node),
        gpus=len(node.gpus),
        running=len(node.host),
        queued=queued[node.name],
        cpus=None if hello is None else hello.cpus,
        memory_total_bytes=(None if hello is None else hello.memory_bytes) if host is None else host.memory_total_bytes,
        memory_available_bytes=None if host is None else host.memory_available_bytes,
        host=None if entry is None else entry.host,
        user=None if entry is None else entry.user,
        port=None if entry is None else entry.port,
        warnings=node_warnings(controller, session.name),
    )


def _removed(controller: Controller, node: Node) -> NodeView:
    """A node that is no longer configured, on which jobs ran when it was last heard of."""
    return NodeView(
        name=node.name,
        kind="local",
        address=None,
        state="removed",
        reason=say("node.removed"),
        since=str(iso(controller.now() - controller.uptime_s())),
        connected=False,
        connected_at=None,
        problem=say("node.removed"),
        version=None,
        boot_id=None,
        agent_pid=None,
        containment=None,
        watch_only=node.is_watch_only,
        drained=node.drain is not None,
        drained_by=None if node.drain is None else node.drain.by,
        drain_reason=_drain_reason(node),
        gpus=len(node.gpus),
        running=len(node.host),
        queued=0,
        cpus=None,
        memory_total_bytes=None,
        memory_available_bytes=None,
        host=None,
        user=None,
        port=None,
        warnings=[],
    )


def _state(session: AgentSession, node: Node) -> NodeState:
    """What keeps jobs from starting there counts most: a drained node that cannot be reached is unreachable."""
    if not session.is_connected or session.silent_s is not None:
        return "needs-login" if needs_login(session) else "unreachable"
    if node.drain is not None:
        return "drained"
    return "rebooted" if session.rebooted_s is not None and session.rebooted_s < REBOOT_SHOWN_S else "reachable"


def needs_login(session: AgentSession) -> bool:
    """Only a person can connect it again."""
    return isinstance(session.failure, LinkFailed) and session.failure.kind in {"login", "host-key-unknown"}


def _elapsed_s(session: AgentSession) -> float:
    if session.silent_s is not None:
        return session.silent_s
    return (session.away_s if session.connected_s is None else session.connected_s) or 0.0


def _drain_reason(node: Node) -> str | None:
    return None if node.drain is None else words(node.drain.reason)


def _silence(session: AgentSession) -> str | None:
    return None if session.silent_s is None else say("agent.silent_for", node=None, seconds=session.silent_s)


def _problem(controller: Controller, session: AgentSession) -> str | None:
    if session.is_connected:
        return None
    if session.failure is not None:
        entry = controller.nodes.entries.get(session.name)
        if entry is not None:
            return refusal(refused_link(session.failure, entry.host)).message
        return say("node.unreachable", error=str(session.failure))
    return say("node.lost") if session.is_lost else say("node.joining")


def node_warnings(controller: Controller, name: str) -> list[str]:
    """What may harm jobs on a node."""
    joined = controller.nodes.joined(name)
    if joined is None:
        return []
    user = joined.account.user
    found = []
    if "remove-ipc" in joined.logout:
        found.append(say("node.remove_ipc", node=name, user=user))
    if "kill-processes" in joined.logout:
        found.append(say("node.kills_processes", node=name, user=user))
    if joined.others:
        found.append(say("node.other_controllers", node=name, others=joined.others))
    return found
