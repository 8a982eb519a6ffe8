"""GPUs: list, drain, resume and forget them, offer them several times, and read their samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus import (
    DrainRequest,
    GpuList,
    GpuSample,
    GpuSamples,
    GpusAnswer,
    GpuSelection,
    SamplesQuery,
    SlotsRequest,
)
from tarmac.api.views.gpu import gpu_views
from tarmac.api.wording.times import iso
from tarmac.controller.controller import Controller
from tarmac.controller.gpus.lost_gpus import check_forgettable, forget, forgettable, look_again
from tarmac.controller.gpus.usage import GpuKey
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.core.events import GpusDrained, GpusResumed, SlotsSet
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.refusal import conflict, not_found, unavailable

if TYPE_CHECKING:
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuReading

GONE = "gone"


async def list_gpus(context: Context) -> GpuList:
    """Every GPU, what it does and which jobs hold it. `error` says what could not be read."""
    controller = context.controller
    errors = [error for error in controller.readings.errors.values() if error]
    return GpuList(gpus=gpu_views(controller), error="; ".join(errors) or None)


async def gpu_samples(context: Context, gpu: str, query: SamplesQuery) -> GpuSamples:
    """What a GPU did over the last `since_s` seconds, by the minute. `fine`: every reading still in memory."""
    controller = context.controller
    node = node_of(controller)
    (uuid,) = gpus_named(node, [gpu])
    since = controller.now() - query.since_s
    if query.fine:
        ring = controller.usage.rings.get(GpuKey(node.name, uuid), ())
        found: list[tuple[float, int | None, float | None, float | None]] = [
            (at, read.memory_used_bytes, read.utilization, read.power_w) for at, read in ring if at >= since
        ]
    else:
        found = [*controller.store.reader.samples(node.name, uuid, int(since))]
    return GpuSamples(
        samples=[
            GpuSample(at=str(iso(at)), memory_used_bytes=memory, utilization=utilization, power_w=power_w)
            for at, memory, utilization, power_w in found
        ]
    )


async def drain_gpus(context: Context, body: DrainRequest) -> GpusAnswer:
    """Start no more jobs on these GPUs. Running jobs continue."""
    controller = context.controller
    node = node_of(controller)
    gpus = gpus_named(node, body.gpus)
    reason = body.reason or f"drained by {context.caller.name}"
    event = GpusDrained(node=node.name, gpus=gpus, by=context.caller.name, reason=reason)
    await controller.engine.commit(event)
    return GpusAnswer(gpus=list(gpus))


async def resume_gpus(context: Context, body: GpuSelection) -> GpusAnswer:
    """Use these GPUs again, also those that were drained because they were sick."""
    controller = context.controller
    node = node_of(controller)
    gpus = gpus_named(node, body.gpus)
    if _sick(controller, node, gpus):
        await look_again(controller, node, gpus)
    if sick := _sick(controller, node, gpus):
        raise conflict("gpu.unhealthy", index=sick[0].index, health=sick[0].health)
    await controller.engine.commit(GpusResumed(node=node.name, gpus=gpus))
    return GpusAnswer(gpus=list(gpus))


async def forget_gpus(context: Context, body: GpuSelection) -> GpusAnswer:
    """Remove missing GPUs from the list; `gone` means all of them that no job holds."""
    controller = context.controller
    node = node_of(controller)
    named = gpus_named(node, [word for word in body.gpus if word != GONE])
    check_forgettable(controller, node, named)
    gpus = tuple(dict.fromkeys((*named, *(forgettable(controller, node) if GONE in body.gpus else ()))))
    if gpus:
        await forget(controller, node, gpus)
    return GpusAnswer(gpus=list(gpus))


async def set_slots(context: Context, body: SlotsRequest) -> GpusAnswer:
    """Offer each of these GPUs `slots` times. Running jobs keep what they have."""
    controller = context.controller
    node = node_of(controller)
    gpus = gpus_named(node, body.gpus)
    await controller.engine.commit(SlotsSet(node=node.name, gpus=gpus, slots=body.slots))
    return GpusAnswer(gpus=list(gpus))


def _sick(controller: Controller, node: Node, uuids: tuple[GpuUuid, ...]) -> list[GpuReading]:
    readings = controller.readings.of(node.name)
    return [reading for reading in readings if reading.uuid in uuids and reading.health is not None]


def node_of(controller: Controller) -> Node:
    if not controller.state.nodes:
        raise unavailable("agent.none_connected")
    name: NodeName = next(iter(controller.state.nodes))
    return controller.state.nodes[name]


def gpus_of(controller: Controller, words: list[str]) -> tuple[GpuUuid, ...]:
    """GPUs of the home node, by index or UUID."""
    return gpus_named(node_of(controller), words)


def gpus_named(node: Node, words: list[str]) -> tuple[GpuUuid, ...]:
    """By index or UUID. A drained GPU that is missing is still found by its UUID."""
    by_word = {str(index): uuid for uuid in node.gpus if (index := node.index_now(uuid)) is not None}
    by_word |= {uuid: uuid for uuid in (*node.gpus, *node.drains, *node.slots)}
    if unknown := [word for word in words if word not in by_word]:
        raise not_found("gpu.unknown", word=unknown[0], known=GpuNames([node]).known())
    return tuple(dict.fromkeys(by_word[word] for word in words))
