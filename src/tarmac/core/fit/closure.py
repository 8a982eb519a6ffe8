"""Is a node as a whole closed to a request, and why? Placement, plans, forecasts and `why` all ask here."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.note import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNotAllowed:
    """The job may run on other nodes only: its owner said so."""

    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWatchOnly:
    """The GPUs of the node are shown, but no job ever starts there."""

    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDrained:
    node: NodeName
    reason: Note | str | None
    by: str | None  # a person; None if Tarmac drained it
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAway:
    """The node is not connected."""

    node: NodeName


Closure: TypeAlias = NodeNotAllowed | NodeWatchOnly | NodeDrained | NodeAway


def closure(node: Node, request: Request) -> Closure | None:
    """Why no job with this request can start on the node, whatever is free there; None if it is open.

    What lasts longest comes first: a drained node stays closed when it is reachable again.
    """
    if not request.allows(node.name):
        return NodeNotAllowed(node=node.name)
    if node.is_watch_only:
        return NodeWatchOnly(node=node.name)
    if (drain := node.drain) is not None:
        return NodeDrained(node=node.name, reason=drain.reason, by=drain.by, since=drain.since)
    return None if node.is_connected else NodeAway(node=node.name)
