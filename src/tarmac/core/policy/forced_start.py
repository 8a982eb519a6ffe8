"""Where a job starts by force: order, limits and free GPUs do not matter, its requirements do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.fit.closure import closure
from tarmac.core.fit.gpu_fit import booking_of, refusal_of, suits
from tarmac.core.model.status import Booking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.gpu import BookedGpu, Gpu
    from tarmac.core.model.ids import GpuUuid, JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.state import State


def plan(state: State, job: Job, wanted: tuple[GpuUuid, ...] = ()) -> Booking | None:
    """On the wanted GPUs, else on suitable ones that disturb the fewest jobs.

    None: no node that takes jobs has enough.
    """
    request = job.spec.request
    candidates = []
    for number, node in enumerate(state.nodes.values()):
        if not node.takes_jobs if wanted else closure(node, request) is not None:
            continue
        gpus = [
            gpu
            for gpu in node.gpus.values()
            if (gpu.uuid in wanted if wanted else suits(gpu, request, state.rules) is None)
        ]
        if len(gpus) >= request.gpus:
            gpus.sort(key=lambda gpu: _disturbance(state, node, gpu, job))
            chosen = gpus[: request.gpus]
            worst = max((_disturbance(state, node, gpu, job)[0] for gpu in chosen), default=0)
            candidates.append((worst, number, node, chosen))
    if not candidates:
        return None
    _, _, node, chosen = min(candidates, key=lambda candidate: candidate[:2])
    return booking_by_force(node, job, tuple(gpu.uuid for gpu in chosen))


def closed_node(state: State, job: Job, wanted: tuple[GpuUuid, ...] = ()) -> Node | None:
    """A connected node that could take the job, or has the wanted GPUs, but is drained or only watched."""
    request = job.spec.request
    for node in state.nodes.values():
        if not node.is_connected or node.takes_jobs or not (wanted or request.allows(node.name)):
            continue
        gpus = [uuid for uuid, gpu in node.gpus.items() if uuid in wanted or suits(gpu, request, state.rules) is None]
        if set(wanted) <= set(gpus) and len(gpus) >= request.gpus:
            return node
    return None


def booking_by_force(node: Node, job: Job, gpus: tuple[GpuUuid, ...]) -> Booking:
    booked = (booking_of(node, node.gpus[uuid], job.spec.request) for uuid in gpus)
    return Booking(
        node=node.name,
        gpus=tuple(replace(gpu, is_forced=bool(_in_conflict(node, gpu))) for gpu in booked),
    )


def double_booked(state: State, booking: Booking) -> Iterator[tuple[BookedGpu, tuple[JobId, ...]]]:
    """GPUs of the booking that other jobs hold and cannot share with this one."""
    node = state.node(booking.node)
    for gpu in booking.gpus:
        if jobs := _in_conflict(node, gpu):
            yield gpu, jobs


def _in_conflict(node: Node, wanted: BookedGpu) -> tuple[JobId, ...]:
    held = node.booked.get(wanted.uuid, {})
    gpu = node.gpus[wanted.uuid]
    is_shared = wanted.memory_bytes and all(booked.memory_bytes for booked in held.values())
    booked_bytes = sum(booked.memory_bytes for booked in held.values())
    if is_shared and booked_bytes + wanted.memory_bytes <= (gpu.memory_total_bytes or booked_bytes * 2 + 1):
        return ()
    return tuple(held)


def _disturbance(state: State, node: Node, gpu: Gpu, job: Job) -> tuple[int, int, int]:
    """Free GPUs first, then GPUs that fail a test but hold no job, then GPUs that other jobs hold."""
    if refusal_of(node, gpu, job.spec.request, state.rules) is None:
        return (0, 0, gpu.index)
    holders = len(node.booked.get(gpu.uuid, {}))
    return (2 if holders else 1, holders, gpu.index)
