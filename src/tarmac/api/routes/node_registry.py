"""Add nodes over SSH, change how they are reached, try again, and remove or forget them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tarmac.api.deps import Context
from tarmac.api.schemas.node_registry import NodeAdded, NodeChange, NodeGone, NodeRequest
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.controller.nodes.entries import NodeEntry
from tarmac.controller.nodes.log_fetch import fetch_logs
from tarmac.controller.nodes.registry import refuse_busy
from tarmac.core.model.ids import NodeName

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


async def remove_node(context: Context, name: str) -> NodeGone:
    """Remove a node without running jobs. The logs of its ended jobs are copied to the controller's machine first."""
    controller, node = context.controller, NodeName(name)
    controller.nodes.of(name)
    refuse_busy(controller.state, node)
    copied = await fetch_logs(controller, node) if controller.fleet.is_connected(node) else 0
    gone = NodeGone(name=name, fetched_logs=copied, unknown_jobs=[])
    return await controller.nodes.remove(name, gone, context.decide)


async def forget_node(context: Context, name: str) -> NodeGone:
    """Remove a node that is gone for good. Its jobs become `unknown`, and their GPUs are free."""

    def gone(jobs: list[int]) -> NodeGone:
        return NodeGone(name=name, fetched_logs=0, unknown_jobs=jobs)

    return await context.controller.nodes.forget(name, context.caller.name, gone, context.decide)


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
