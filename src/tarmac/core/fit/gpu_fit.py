"""May a request have this GPU now? Placement, the recheck and `why` all ask here.

A booking counts from the decision on, whatever the GPU reads: readings never replace bookings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tarmac.core.model.gpu import BookedGpu, GpuUse
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.gpu import ForeignProcess, Gpu, NamedGpu
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules

GpuCondition: TypeAlias = Literal["pin", "exclude", "model", "mig", "size", "kept"]
CONDITIONS: tuple[GpuCondition, ...] = get_args(GpuCondition)  # in the order they are checked
UNKNOWN_MEMORY_BYTES = 1 << 40  # assumed for a GPU of unknown size, which is shared by fractions of this


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsuitable:
    """The GPU never meets the request, however long the job waits."""

    condition: GpuCondition  # the first one that it does not meet
    model: str = ""  # of the GPU, where a model was asked for
    asked_models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    reason: str | None
    by: str | None  # a person; None if Tarmac drained it as unhealthy


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Held by jobs that do not share it, or by as many as it has slots."""

    jobs: tuple[JobId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideUse:
    """Used by foreign processes."""

    foreign_processes: tuple[ForeignProcess, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLittleMemory:
    free_bytes: int
    total_bytes: int
    asked_bytes: int
    jobs: tuple[JobId, ...]
    outside_bytes: int = 0  # what processes take that belong to no job there
    foreign_processes: tuple[ForeignProcess, ...] = ()


GpuReason: TypeAlias = Unsuitable | Drained | Taken | OutsideUse | TooLittleMemory

_UNUSED = GpuUse()


def size(gpu: Gpu) -> int:
    return gpu.memory_total_bytes or UNKNOWN_MEMORY_BYTES


def bookable_bytes(gpu: Gpu, rules: Rules) -> int:
    """The memory that sharing jobs may book together."""
    return size(gpu) - int(rules.keep_gpu_memory * size(gpu))


def is_named(gpu: Gpu, names: tuple[NamedGpu | int, ...]) -> bool:
    return any(gpu.index == name if isinstance(name, int) else gpu.uuid == name.uuid for name in names)


def suits(gpu: Gpu, request: Request, rules: Rules) -> Unsuitable | None:
    """The first of `CONDITIONS` that the GPU does not meet, even when idle; None if it meets all."""
    if request.gpus_on and not is_named(gpu, request.gpus_on):
        return Unsuitable(condition="pin")
    if request.exclude_gpus and is_named(gpu, request.exclude_gpus):
        return Unsuitable(condition="exclude")
    if request.gpu_models and not any(word in gpu.model.lower() for word in request.gpu_models):
        return Unsuitable(condition="model", model=gpu.model, asked_models=request.gpu_models)
    if request.gpus > 1 and gpu.parent is not None:
        return Unsuitable(condition="mig")
    if request.min_gpu_memory_bytes and size(gpu) < request.min_gpu_memory_bytes:
        return Unsuitable(condition="size")
    if request.gpu_memory_bytes is not None and size(gpu) < request.gpu_memory_bytes:
        return Unsuitable(condition="size")
    if request.is_shared and _shared_bytes(gpu, request) > bookable_bytes(gpu, rules):
        return Unsuitable(condition="kept")
    return None


def has_conditions(request: Request) -> bool:
    """Does the request narrow down which whole GPUs it accepts? MIG instances are checked elsewhere."""
    return bool(request.gpus_on or request.exclude_gpus or request.gpu_models or request.min_gpu_memory_bytes)


def _shared_bytes(gpu: Gpu, request: Request) -> int:
    if request.gpu_memory_bytes is not None:
        return request.gpu_memory_bytes
    return int((request.gpu_share or 0) * size(gpu))


def booking_of(node: Node, gpu: Gpu, request: Request) -> BookedGpu:
    """What the request books of this GPU. A slot is a part of the GPU, so all ways of sharing add up."""
    memory_bytes = _wanted_bytes(node, gpu, request)
    part = min(1.0, memory_bytes / size(gpu)) if memory_bytes else 1.0
    return BookedGpu(uuid=gpu.uuid, index=gpu.index, memory_bytes=memory_bytes, part=part, parent=gpu.parent)


def _wanted_bytes(node: Node, gpu: Gpu, request: Request) -> int:
    """0: the whole GPU."""
    if request.is_shared:
        return _shared_bytes(gpu, request)
    slots = node.slots.get(gpu.uuid, 1)
    return 0 if slots == 1 else size(gpu) // slots


def refusal_of(node: Node, gpu: Gpu, request: Request, rules: Rules) -> GpuReason | None:
    """Why the request cannot have this GPU now; None if it can."""
    if (unsuitable := suits(gpu, request, rules)) is not None:
        return unsuitable
    if (drain := node.drains.get(gpu.uuid)) is not None:
        return Drained(reason=drain.reason, by=drain.by)
    held = node.booked.get(gpu.uuid)
    wanted_bytes = _wanted_bytes(node, gpu, request)
    use = node.uses.get(gpu.uuid, _UNUSED)
    if held and (not wanted_bytes or any(not booked.memory_bytes for booked in held.values())):
        return Taken(jobs=tuple(held))
    if kin := node.mig_relative_holders(gpu):
        return Taken(jobs=kin)
    if not request.is_shared and _is_occupied(gpu, request, rules, use):
        return OutsideUse(foreign_processes=use.foreign_processes)
    return _memory(node, gpu, request, rules, wanted_bytes) if wanted_bytes else None


def is_plainly_free(node: Node, gpu: Gpu) -> bool:
    """May every request for whole GPUs without conditions have it? True settles the usual case cheaply."""
    uuid = gpu.uuid
    if uuid in node.booked or uuid in node.drains or uuid in node.slots or uuid in node.booked_parts:
        return False
    use = node.uses.get(uuid)
    return gpu.parent is None and (use is None or not use.foreign_processes)


def _is_occupied(gpu: Gpu, request: Request, rules: Rules, use: GpuUse) -> bool:
    """Is a GPU that a job wants whole used by foreign processes? A little use is tolerated, and enough idleness."""
    if not use.foreign_processes:
        return False
    if request.idle_below is not None:
        return use.load is None or use.load * 100 >= request.idle_below
    is_small = use.outside_bytes <= rules.max_memory * size(gpu)
    is_quiet = use.load is None or use.load <= rules.max_load
    return not (is_small and is_quiet)


def _memory(node: Node, gpu: Gpu, request: Request, rules: Rules, wanted_bytes: int) -> TooLittleMemory | None:
    """A job that uses more than it booked counts with what it uses: the next job would find the GPU full."""
    held = node.booked.get(gpu.uuid, {})
    use = node.uses.get(gpu.uuid, _UNUSED) if request.is_shared else _UNUSED
    taken = (max(booked.memory_bytes, node.taken_bytes.get(job, {}).get(gpu.uuid, 0)) for job, booked in held.items())
    free = (bookable_bytes(gpu, rules) if request.is_shared else size(gpu)) - sum(taken) - use.outside_bytes
    if wanted_bytes <= free:
        return None
    return TooLittleMemory(
        free_bytes=max(0, free),
        total_bytes=size(gpu),
        asked_bytes=wanted_bytes,
        jobs=tuple(held),
        outside_bytes=use.outside_bytes,
        foreign_processes=use.foreign_processes,
    )
