"""GPUs that are lost or do not answer: forget them, or try them again at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.controller.submit.gpu_names import name_of
from tarmac.refusal import conflict

if TYPE_CHECKING:
    from collections.abc import Collection

    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuReading

KNOWN_WITHIN_S = 5.0  # how a trial went; a GPU that hangs takes longer, and is not waited for


def lost(controller: Controller, node: Node) -> dict[GpuUuid, GpuReading]:
    readings = controller.readings.of(node.name)
    return {reading.as_gpu().uuid: reading for reading in readings if reading.gone_since is not None}


def forgettable(controller: Controller, node: Node) -> tuple[GpuUuid, ...]:
    """All lost GPUs that no job holds. Refuses if every lost GPU is held."""
    missing = lost(controller, node)
    free = tuple(uuid for uuid in missing if not node.holders(uuid))
    if missing and not free:
        check_forgettable(controller, node, list(missing)[:1])
    return free


def check_forgettable(controller: Controller, node: Node, uuids: Collection[GpuUuid]) -> None:
    missing = lost(controller, node)
    for uuid in uuids:
        # Named by UUID: another GPU may have its index by now.
        if held := node.holders(uuid):
            raise conflict("gpu.still_held", gpu=uuid, job=held[0])
        if uuid in node.gpus and uuid not in missing:
            raise conflict("gpu.present", gpu=name_of(node, uuid, controller.state.nodes.values()))


async def tell_to_forget(controller: Controller, node: NodeName, uuids: tuple[GpuUuid, ...]) -> None:
    """Tell the agent first: a reading that still contains the GPU would bring it back."""
    await controller.fleet.ask(node, {"type": "forget_gpus", "uuids": list(uuids)})


async def look_again(controller: Controller, node: Node, uuids: tuple[GpuUuid, ...]) -> None:
    """Return when these GPUs are healthy, or when it is clear that they are not."""
    tried = (await controller.fleet.ask(node.name, {"type": "try_gpus", "uuids": list(uuids)}))["uuids"]
    listener = controller.publisher.listen()
    try:
        async with asyncio.timeout(KNOWN_WITHIN_S):
            while _is_unhealthy(controller, node, tried):
                await listener.take(KNOWN_WITHIN_S)
    except TimeoutError:
        pass  # it still hangs
    finally:
        controller.publisher.unlisten(listener)


def _is_unhealthy(controller: Controller, node: Node, uuids: Collection[GpuUuid]) -> bool:
    readings = controller.readings.of(node.name)
    return any(reading.uuid in uuids and reading.health is not None for reading in readings)
