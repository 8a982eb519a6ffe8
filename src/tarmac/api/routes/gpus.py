"""GPUs: listed, taken out and in, offered several times; and the processes on them that nobody queued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus import (
    DrainRequest,
    GpuSample,
    GpuSamples,
    GpusAnswer,
    GpuSelection,
    SamplesQuery,
    SlotsRequest,
)
from tarmac.api.views import Viewer
from tarmac.api.wording.times import iso
from tarmac.controller.engine import Engine, PendingCommit
from tarmac.controller.gpus.lost_gpus import check_forgettable, forget, forgettable, look_again
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.core.events import GpusDrained, GpusResumed, SlotsSet
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.errors import Conflict, Unavailable
from tarmac.refusal import not_found

if TYPE_CHECKING:
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuReading

GONE = "gone"


async def list_gpus(context: Context) -> dict[str, Any]:
    """Every GPU, what it does and which jobs have it. `error` says what could not be read."""
    engine = context.engine
    errors = [error for error in engine.board.errors.values() if error]
    return {"gpus": Viewer(engine).gpus(), "error": "; ".join(errors) or None}


async def gpu_samples(context: Context, gpu: str, query: SamplesQuery) -> GpuSamples:
    """What a GPU did over the last `since_s` seconds: every reading still in memory, or minute by minute."""
    engine = context.engine
    node = node_of(engine)
    (uuid,) = gpus_named(node, [gpu])
    since = engine.now() - query.since_s
    if query.fine:
        ring = engine.board.usage.rings.get((node.name, uuid), ())
        found: list[tuple[float, int | None, float | None, float | None]] = [
            (at, read.memory_used_bytes, read.utilization, read.power_w) for at, read in ring if at >= since
        ]
    else:
        found = [*engine.store.reader.samples(node.name, uuid, int(since))]
    return GpuSamples(
        samples=[
            GpuSample(at=str(iso(at)), memory_used_bytes=memory, utilization=utilization, power_w=power_w)
            for at, memory, utilization, power_w in found
        ]
    )


async def drain_gpus(context: Context, body: DrainRequest) -> GpusAnswer:
    """Place nothing new on these GPUs. What runs there goes on."""
    engine = context.engine
    node = node_of(engine)
    gpus = gpus_named(node, body.gpus)
    reason = body.reason or f"drained by {context.caller.name}"
    event = GpusDrained(node=node.name, gpus=gpus, by=context.caller.name, reason=reason)
    await engine.commit(PendingCommit(events=[event]))
    return GpusAnswer(gpus=list(gpus))


async def resume_gpus(context: Context, body: GpuSelection) -> GpusAnswer:
    """Use them again, also those that Tarmac took out because they were sick."""
    engine = context.engine
    node = node_of(engine)
    gpus = gpus_named(node, body.gpus)
    if _sick(engine, node, gpus):
        await look_again(engine, node, gpus)
    if sick := _sick(engine, node, gpus):
        raise Conflict(
            f"GPU {sick[0].index} is still sick: {sick[0].health}",
            hint="it comes back by itself once it is well, or mend it first",
        )
    await engine.commit(PendingCommit(events=[GpusResumed(node=node.name, gpus=gpus)]))
    return GpusAnswer(gpus=list(gpus))


async def forget_gpus(context: Context, body: GpuSelection) -> GpusAnswer:
    """Take GPUs that are gone off the list; the word `gone` means all of them that no job holds."""
    engine = context.engine
    node = node_of(engine)
    named = gpus_named(node, [word for word in body.gpus if word != GONE])
    check_forgettable(engine, node, named)
    gpus = tuple(dict.fromkeys((*named, *(forgettable(engine, node) if GONE in body.gpus else ()))))
    if gpus:
        await forget(engine, node, gpus)
    return GpusAnswer(gpus=list(gpus))


async def set_slots(context: Context, body: SlotsRequest) -> GpusAnswer:
    """Offer these GPUs n times to jobs that ask for a GPU. What runs there keeps what it has."""
    engine = context.engine
    node = node_of(engine)
    gpus = gpus_named(node, body.gpus)
    await engine.commit(PendingCommit(events=[SlotsSet(node=node.name, gpus=gpus, slots=body.slots)]))
    return GpusAnswer(gpus=list(gpus))


def _sick(engine: Engine, node: Node, uuids: tuple[GpuUuid, ...]) -> list[GpuReading]:
    readings = engine.board.readings.get(node.name, [])
    return [reading for reading in readings if reading.uuid in uuids and reading.health is not None]


def node_of(engine: Engine) -> Node:
    if not engine.state.nodes:
        raise Unavailable("no machine is in reach: the agent is not connected", hint="`tarmac log agent` says more")
    name: NodeName = next(iter(engine.state.nodes))
    return engine.state.nodes[name]


def gpus_of(engine: Engine, words: list[str]) -> tuple[GpuUuid, ...]:
    """GPUs by index or UUID, of the only node there is."""
    return gpus_named(node_of(engine), words)


def gpus_named(node: Node, words: list[str]) -> tuple[GpuUuid, ...]:
    """By index or UUID; a drained GPU that is away is still found by its UUID."""
    by_word = {str(index): uuid for uuid in node.gpus if (index := node.index_now(uuid)) is not None}
    by_word |= {uuid: uuid for uuid in (*node.gpus, *node.drains, *node.slots)}
    if unknown := [word for word in words if word not in by_word]:
        raise not_found("gpu.unknown", word=unknown[0], known=GpuNames([node]).known())
    return tuple(dict.fromkeys(by_word[word] for word in words))
