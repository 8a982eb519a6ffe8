"""Add nodes over SSH, change how they are reached, try again, and remove or forget them."""

from __future__ import annotations

import msgspec

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.schemas.node_registry import NodeChange, NodeGone, NodeRequest
from tarmac.api.views.node import node_view
from tarmac.controller.nodes.entries import NodeEntry


async def add_node(context: Context, body: NodeRequest) -> NodeView:
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
    await controller.nodes.add(entry, is_later=body.later)
    return node_view(controller, entry.name)


async def change_node(context: Context, name: str, body: NodeChange) -> NodeView:
    """Change how a node is reached, or what it is used for."""
    nodes = context.controller.nodes
    given = {key: value for key, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    await nodes.change(name, given)
    return node_view(context.controller, name)


async def try_node(context: Context, name: str) -> NodeView:
    """Try at once to reach a node that is away."""
    context.controller.nodes.of(name)
    context.controller.nodes.try_now(name)
    return node_view(context.controller, name)


async def remove_node(context: Context, name: str) -> NodeGone:
    """Remove a node without running jobs. The logs of its ended jobs are copied to the controller's machine first."""

    def gone(copied: int) -> NodeGone:
        return NodeGone(name=name, fetched_logs=copied, unknown_jobs=[])

    return await context.controller.nodes.remove(name, gone, context.decide)


async def forget_node(context: Context, name: str) -> NodeGone:
    """Remove a node that is gone for good. Its jobs become `unknown`, and their GPUs are free."""

    def gone(jobs: list[int]) -> NodeGone:
        return NodeGone(name=name, fetched_logs=0, unknown_jobs=jobs)

    return await context.controller.nodes.forget(name, context.caller.name, gone, context.decide)
