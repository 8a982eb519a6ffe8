"""GPUs that are gone or do not answer, when a person cares for them: forget them, or look again at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.controller.engine import PendingCommit
from tarmac.core.events import GpusForgotten
from tarmac.refusal import conflict

if TYPE_CHECKING:
    from collections.abc import Collection

    from tarmac.controller.engine import Engine
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuReading

KNOWN_WITHIN_S = 5.0  # how a trial went; a GPU that hangs takes longer, and is none to wait for


def gone(engine: Engine, node: Node) -> dict[GpuUuid, GpuReading]:
    readings = engine.board.readings.get(node.name, [])
    return {reading.as_gpu().uuid: reading for reading in readings if reading.gone_since is not None}


def forgettable(engine: Engine, node: Node) -> tuple[GpuUuid, ...]:
    """All that are gone but those that a job still holds; refused where there are no others."""
    missing = gone(engine, node)
    free = tuple(uuid for uuid in missing if not node.holders(uuid))
    if missing and not free:
        check_forgettable(engine, node, list(missing)[:1])
    return free


def check_forgettable(engine: Engine, node: Node, uuids: Collection[GpuUuid]) -> None:
    missing = gone(engine, node)
    for uuid in uuids:
        # By UUID: its number may be another GPU's by now.
        if held := node.holders(uuid):
            raise conflict("gpu.still_held", gpu=uuid, job=held[0])
        if uuid in node.gpus and uuid not in missing:
            raise conflict("gpu.present", index=node.gpus[uuid].index)


async def forget(engine: Engine, node: Node, uuids: tuple[GpuUuid, ...]) -> None:
    """First the agent: what it still tells of a GPU would bring it back."""
    await engine.fleet.ask(node.name, {"type": "forget_gpus", "uuids": list(uuids)})
    await engine.commit(PendingCommit(events=[GpusForgotten(node=node.name, gpus=uuids)]))


async def look_again(engine: Engine, node: Node, uuids: tuple[GpuUuid, ...]) -> None:
    """Returns when these GPUs are well, or when it is clear that they are not."""
    tried = (await engine.fleet.ask(node.name, {"type": "try_gpus", "uuids": list(uuids)}))["uuids"]
    listener = engine.publisher.listen()
    try:
        async with asyncio.timeout(KNOWN_WITHIN_S):
            while _is_sick(engine, node, tried):
                await listener.take(KNOWN_WITHIN_S)
    except TimeoutError:
        pass  # it hangs still
    finally:
        engine.publisher.unlisten(listener)


def _is_sick(engine: Engine, node: Node, uuids: Collection[GpuUuid]) -> bool:
    readings = engine.board.readings.get(node.name, [])
    return any(reading.uuid in uuids and reading.health is not None for reading in readings)
