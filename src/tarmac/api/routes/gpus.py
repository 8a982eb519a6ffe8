"""GPUs: listed, taken out and in, offered several times; and the processes on them that nobody queued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from litestar import get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from tarmac.api import schemas
from tarmac.api.deps import Caller, EngineDep
from tarmac.api.views import Viewer
from tarmac.api.wording.times import iso
from tarmac.controller.engine import Engine, PendingCommit
from tarmac.controller.gpus.lost_gpus import check_forgettable, forget, forgettable, look_again
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.core.events import GpusDrained, GpusResumed, SlotsSet
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.errors import Conflict, NotFound, Unavailable

if TYPE_CHECKING:
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuReading

GONE = "gone"


@get("/gpus", responses={200: ResponseSpec(schemas.GpuList, description="every GPU")})
async def list_gpus(engine: EngineDep, caller: Caller) -> dict[str, Any]:  # noqa: ARG001 - checks the caller
    """Every GPU, what it does and which jobs have it. `error` says what could not be read."""
    errors = [error for error in engine.board.errors.values() if error]
    return {"gpus": Viewer(engine).gpus(), "error": "; ".join(errors) or None}


@get("/gpus/{GPU:str}/samples")
async def gpu_samples(
    engine: EngineDep,
    caller: Caller,  # noqa: ARG001 - checks the caller
    gpu: FromPath[str],
    since_s: Annotated[float, QueryParameter(ge=0)] = 86400.0,
    fine: FromQuery[bool] = False,  # noqa: FBT002 - a query parameter
) -> schemas.GpuSamples:
    """What a GPU did over the last `since_s` seconds: every reading still in memory, or minute by minute."""
    node = node_of(engine)
    (uuid,) = gpus_named(node, [gpu])
    since = engine.now() - since_s
    if fine:
        ring = engine.board.usage.rings.get((node.name, uuid), ())
        found: list[tuple[float, int | None, float | None, float | None]] = [
            (at, read.memory_used_bytes, read.utilization, read.power_w) for at, read in ring if at >= since
        ]
    else:
        found = [*engine.store.reader.samples(node.name, uuid, int(since))]
    return schemas.GpuSamples(
        samples=[
            schemas.GpuSample(at=str(iso(at)), memory_used_bytes=memory, utilization=utilization, power_w=power_w)
            for at, memory, utilization, power_w in found
        ]
    )


@post("/gpus/drain", status_code=200)
async def drain_gpus(engine: EngineDep, caller: Caller, data: JSONBody[schemas.DrainRequest]) -> schemas.GpusAnswer:
    """Place nothing new on these GPUs. What runs there goes on."""
    node = node_of(engine)
    gpus = gpus_named(node, data.gpus)
    reason = data.reason or f"drained by {caller}"
    await engine.commit(PendingCommit(events=[GpusDrained(node=node.name, gpus=gpus, by=caller, reason=reason)]))
    return schemas.GpusAnswer(gpus=list(gpus))


@post("/gpus/resume", status_code=200)
async def resume_gpus(
    engine: EngineDep,
    caller: Caller,  # noqa: ARG001 - checks the caller
    data: JSONBody[schemas.GpuSelection],
) -> schemas.GpusAnswer:
    """Use them again, also those that Tarmac took out because they were sick."""
    node = node_of(engine)
    gpus = gpus_named(node, data.gpus)
    if _sick(engine, node, gpus):
        await look_again(engine, node, gpus)
    if sick := _sick(engine, node, gpus):
        raise Conflict(
            f"GPU {sick[0].index} is still sick: {sick[0].health}",
            hint="it comes back by itself once it is well, or mend it first",
        )
    await engine.commit(PendingCommit(events=[GpusResumed(node=node.name, gpus=gpus)]))
    return schemas.GpusAnswer(gpus=list(gpus))


@post("/gpus/forget", status_code=200)
async def forget_gpus(
    engine: EngineDep,
    caller: Caller,  # noqa: ARG001 - checks the caller
    data: JSONBody[schemas.GpuSelection],
) -> schemas.GpusAnswer:
    """Take GPUs that are gone off the list; the word `gone` means all of them that no job holds."""
    node = node_of(engine)
    named = gpus_named(node, [word for word in data.gpus if word != GONE])
    check_forgettable(engine, node, named)
    gpus = tuple(dict.fromkeys((*named, *(forgettable(engine, node) if GONE in data.gpus else ()))))
    if gpus:
        await forget(engine, node, gpus)
    return schemas.GpusAnswer(gpus=list(gpus))


@post("/gpus/slots", status_code=200)
async def set_slots(
    engine: EngineDep,
    caller: Caller,  # noqa: ARG001 - checks the caller
    data: JSONBody[schemas.SlotsRequest],
) -> schemas.GpusAnswer:
    """Offer these GPUs n times to jobs that ask for a GPU. What runs there keeps what it has."""
    node = node_of(engine)
    gpus = gpus_named(node, data.gpus)
    await engine.commit(PendingCommit(events=[SlotsSet(node=node.name, gpus=gpus, slots=data.slots)]))
    return schemas.GpusAnswer(gpus=list(gpus))


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
        raise NotFound(f"no GPU {unknown[0]}", hint=f"there are: {GpuNames([node]).there_are()}")
    return tuple(dict.fromkeys(by_word[word] for word in words))
