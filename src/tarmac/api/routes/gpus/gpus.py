"""GPUs: list, drain, resume and forget them, offer them several times, and read their samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus.gpus import (
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
from tarmac.api.views.node import node_views
from tarmac.api.views.notice import notice_view
from tarmac.api.wording.times import iso
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.controller.gpus.lost_gpus import check_forgettable, forgettable, look_again, tell_to_forget
from tarmac.controller.gpus.selection import GpusByNode, gpus_named
from tarmac.controller.gpus.usage import GpuKey
from tarmac.controller.submit.gpu_names import name_of
from tarmac.core.events import GpusDrained, GpusForgotten, GpusResumed, SlotsSet
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.refusal import conflict, unavailable

if TYPE_CHECKING:
    from tarmac.nodes.reports import GpuReading

GONE = "gone"


async def list_gpus(context: Context) -> GpuList:
    """Every GPU, what it does and which jobs hold it; and the nodes. `error` says what could not be read."""
    controller = context.controller
    await controller.fleet.check_liveness()
    errors = [error for error in controller.readings.errors.values() if error]
    return GpuList(
        gpus=gpu_views(controller),
        nodes=node_views(controller),
        error="; ".join(errors) or None,
        notice=notice_view(controller),
    )


async def gpu_samples(context: Context, gpu: str, query: SamplesQuery) -> GpuSamples:
    """What a GPU did over the last `since_s` seconds, by the minute. `fine`: every reading still in memory."""
    controller = context.controller
    ((node, (uuid, *_)),) = _named(controller, [gpu]).items()
    since = controller.now() - query.since_s
    if query.fine:
        ring = controller.usage.rings.get(GpuKey(node, uuid), ())
        found: list[tuple[float, int | None, float | None, float | None]] = [
            (at, read.memory_used_bytes, read.utilization, read.power_w) for at, read in ring if at >= since
        ]
    else:
        found = [*controller.store.reader.samples(node, uuid, int(since))]
    return GpuSamples(
        samples=[
            GpuSample(at=str(iso(at)), memory_used_bytes=memory, utilization=utilization, power_w=power_w)
            for at, memory, utilization, power_w in found
        ]
    )


async def drain_gpus(context: Context, body: DrainRequest) -> GpusAnswer:
    """Start no more jobs on these GPUs. Running jobs continue."""
    named = _named(context.controller, body.gpus)
    by = context.caller.name
    reason = body.reason or None
    events = [GpusDrained(node=node, gpus=gpus, by=by, reason=reason) for node, gpus in named.items()]
    return await context.decide(lambda _: Decision(answer=_answer(named), events=events))


async def resume_gpus(context: Context, body: GpuSelection) -> GpusAnswer:
    """Use these GPUs again, including GPUs that Tarmac drained as unhealthy."""
    controller, named = context.controller, _named(context.controller, body.gpus)
    for node, gpus in named.items():
        if _unhealthy(controller, node, gpus):
            await look_again(controller, controller.state.node(node), gpus)
        if unhealthy := _unhealthy(controller, node, gpus):
            nodes = controller.state.nodes
            name = name_of(nodes[node], unhealthy[0].as_gpu().uuid, nodes.values())
            raise conflict("gpu.unhealthy", gpu=name, health=unhealthy[0].health)
    events = [GpusResumed(node=node, gpus=gpus) for node, gpus in named.items()]
    return await context.decide(lambda _: Decision(answer=_answer(named), events=events))


async def forget_gpus(context: Context, body: GpuSelection) -> GpusAnswer:
    """Remove missing GPUs from the list; `gone` means all of them that no job holds."""
    controller = context.controller
    named = _named(controller, [word for word in body.gpus if word != GONE])
    for name, gpus in named.items():
        check_forgettable(controller, controller.state.node(name), gpus)
    if GONE in body.gpus:
        for node in controller.state.nodes.values():
            named[node.name] = tuple(dict.fromkeys((*named.get(node.name, ()), *forgettable(controller, node))))
    lost = {name: gpus for name, gpus in named.items() if gpus}
    for name, gpus in lost.items():
        await tell_to_forget(controller, name, gpus)
    events = [GpusForgotten(node=name, gpus=gpus) for name, gpus in lost.items()]
    return await context.decide(lambda _: Decision(answer=_answer(named), events=events))


async def set_slots(context: Context, body: SlotsRequest) -> GpusAnswer:
    """Offer each of these GPUs `slots` times. Running jobs keep what they have."""
    named = _named(context.controller, body.gpus)
    events = [SlotsSet(node=node, gpus=gpus, slots=body.slots) for node, gpus in named.items()]
    return await context.decide(lambda _: Decision(answer=_answer(named), events=events))


def _named(controller: Controller, words: list[str]) -> GpusByNode:
    if not controller.state.nodes:
        raise unavailable("agent.none_connected")
    return gpus_named(controller.state.nodes.values(), words)


def _answer(named: GpusByNode) -> GpusAnswer:
    return GpusAnswer(gpus=[gpu for gpus in named.values() for gpu in gpus])


def _unhealthy(controller: Controller, node: NodeName, uuids: tuple[GpuUuid, ...]) -> list[GpuReading]:
    return [reading for reading in controller.readings.of(node) if reading.uuid in uuids and reading.health is not None]
