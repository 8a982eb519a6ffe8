"""Add nodes over SSH, change how they are reached, try again, and remove or forget them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tarmac.api.deps import Context
from tarmac.api.schemas.node_registry import NodeAdded, NodeChange, NodeRequest
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.controller.nodes.entries import NodeEntry

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller


async def add_node(context: Context, body: NodeRequest) -> NodeAdded:
    """Add a node that is reached over SSH. Its agent is installed and started there first, unless `later` is given."""
    controller = context.controller
    entry = NodeEntry(
        name=body.name,
        host=body.host,
        user=body.user,
        port=body.port,
        address=body.address,
        watch_only=body.watch_only,
        environment=body.environment,
        added_at=controller.now(),
        added_by=context.caller.name,
    )
    return _added(controller, await controller.nodes.add(entry, is_later=body.later))


async def change_node(context: Context, name: str, body: NodeChange) -> NodeAdded:
    """Change how a node is reached, or what it is used for."""
    nodes = context.controller.nodes
    given = {key: value for key, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    changed = msgspec.structs.replace(nodes.of(name), **given)
    return _added(context.controller, await nodes.change(name, changed))


async def try_node(context: Context, name: str) -> NodeAdded:
    """Try at once to reach a node that is away."""
    entry = context.controller.nodes.of(name)
    context.controller.nodes.try_now(name)
    return _added(context.controller, entry)


def _added(controller: Controller, entry: NodeEntry) -> NodeAdded:
    return NodeAdded(
        name=entry.name,
        host=entry.host,
        user=entry.user,
        port=entry.port,
        address=entry.address,
        watch_only=entry.watch_only,
        warnings=node_warnings(controller, entry.name),
    )


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
