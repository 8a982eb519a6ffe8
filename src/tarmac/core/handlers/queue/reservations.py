"""Reservations: which GPUs they take, when they end, and when they are released unused."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.commands import Notify
from tarmac.core.fit.gpu_fit import Taken, refusal_of
from tarmac.core.model.job import Request
from tarmac.core.model.note import note
from tarmac.core.policy.reservations import is_active

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.model.queue import Reservation
    from tarmac.core.runtimes import End
    from tarmac.core.state import State

WHOLE_GPU = Request()


def chosen_gpus(
    state: State, *, gpus: int, owner: str, begins_at: float, ends_at: float
) -> tuple[NodeName, tuple[GpuUuid, ...]] | None:
    """On one node: GPUs without another reservation then, those most likely free at its begin first."""
    best: tuple[float, int, NodeName, tuple[GpuUuid, ...]] | None = None
    for number, node in enumerate(state.nodes.values()):
        usable = _usable(state, node, begins_at, ends_at)
        if not node.takes_jobs or len(usable) < gpus:
            continue
        usable.sort(key=lambda gpu: (_free_at(state, node, gpu, owner), gpu.index))
        chosen = usable[:gpus]
        latest = max(_free_at(state, node, gpu, owner) for gpu in chosen)
        found = (max(latest, begins_at), number, node.name, tuple(gpu.uuid for gpu in chosen))
        best = found if best is None or found < best else best
    return None if best is None else (best[2], best[3])


def _usable(state: State, node: Node, begins_at: float, ends_at: float) -> list[Gpu]:
    """Working GPUs without a reservation in this time, in index order."""
    taken = {
        uuid
        for one in state.reservations.values()
        if one.node == node.name and one.begins_at < ends_at and begins_at < one.ends_at
        for uuid in one.gpus
    }
    return [gpu for gpu in node.gpus.values() if gpu.uuid not in taken and gpu.uuid not in node.drains]


def _free_at(state: State, node: Node, gpu: Gpu, owner: str) -> float:
    """When the GPU is free for the reservation. Jobs of its owner do not count."""
    reason = refusal_of(node, gpu, WHOLE_GPU, state.rules)
    if reason is None:
        return 0.0
    if not isinstance(reason, Taken):
        return inf
    jobs = [state.jobs[job] for job in reason.jobs]
    ends = [state.runtimes.end_of(job, state.now) for job in jobs if job.spec.owner != owner]
    return max((inf if end is None else end.at for end in ends), default=0.0)


def still_there(state: State, made: Reservation) -> list[tuple[GpuUuid, Job, End | None]]:
    """Jobs of other owners on its GPUs, with their expected ends, that may still run when it begins."""
    node = state.node(made.node)
    jobs = [
        (gpu, state.jobs[number])
        for gpu in made.gpus
        if gpu in node.gpus
        for number in (*node.holders(gpu), *node.mig_relative_holders(node.gpus[gpu]))
    ]
    ends = [(gpu, job, state.runtimes.end_of(job, state.now)) for gpu, job in jobs if job.spec.owner != made.owner]
    return [(gpu, job, end) for gpu, job, end in ends if end is None or end.at > made.begins_at]


def pass_time(state: State, now: float) -> Iterator[Notify]:
    """End expired reservations, release unused ones early, and replace GPUs that are gone or drained."""
    for one in list(state.reservations.values()):
        one = _with_sound_gpus(state, one)
        if now >= one.ends_at:
            state.set_reservation(one.id, None)
        elif is_active(one, now) and not one.is_used:
            if _is_at_work(state, one):
                state.set_reservation(one.id, replace(one, is_used=True))
            elif now >= one.begins_at + state.rules.no_show_s and not _is_kept_out(state, one):
                state.set_reservation(one.id, None)
                yield Notify(
                    what="reservation-released",
                    message=note(
                        "notice.reservation_released",
                        reservation=one.id,
                        owner=one.owner,
                        within_s=state.rules.no_show_s,
                    ),
                )


def _with_sound_gpus(state: State, reservation: Reservation) -> Reservation:
    node = state.nodes.get(reservation.node)
    if node is None or not node.has_reported_gpus:
        return reservation
    lost = [gpu for gpu in reservation.gpus if gpu in node.drains or gpu not in node.gpus]
    spare = _usable(state, node, reservation.begins_at, reservation.ends_at) if lost else []
    for gpu, other in zip(lost, spare, strict=False):
        changed = tuple(other.uuid if one == gpu else one for one in reservation.gpus)
        reservation = replace(reservation, gpus=changed)
        state.set_reservation(reservation.id, reservation)
    return reservation


def _is_at_work(state: State, reservation: Reservation) -> bool:
    node = state.nodes.get(reservation.node)
    holders = [job for gpu in reservation.gpus for job in (node.booked.get(gpu, ()) if node is not None else ())]
    return any(state.jobs[job].spec.owner == reservation.owner for job in holders)


def _is_kept_out(state: State, reservation: Reservation) -> bool:
    """Jobs of its owner wait but cannot start, because the queue is paused or the GPUs are still held."""
    own = state.queue.owners.get(reservation.owner)
    if own is None or not any(klass.request.gpus for klass in own.classes.values()):
        return False
    node = state.nodes.get(reservation.node)
    if node is None or not node.takes_jobs or state.mode.is_paused:
        return True
    gpus = [node.gpus[uuid] for uuid in reservation.gpus if uuid in node.gpus]
    return any(refusal_of(node, gpu, WHOLE_GPU, state.rules) is not None for gpu in gpus)
