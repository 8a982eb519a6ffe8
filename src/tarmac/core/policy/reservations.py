"""Reservations in scheduling: other owners' jobs stay off the GPUs, the owner's jobs prefer them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.node import Node
    from tarmac.core.model.queue import Reservation
    from tarmac.core.state import State


def is_active(reservation: Reservation, now: float) -> bool:
    return reservation.begins_at <= now < reservation.ends_at


def in_the_way(state: State, spec: JobSpec, node: NodeName, now: float, end: float | None) -> Iterator[Reservation]:
    """Reservations of other owners on the node that the job would overlap if it started now."""
    for reservation in state.reservations.values():
        if reservation.node == node and reservation.owner != spec.owner and _runs_into(state, reservation, now, end):
            yield reservation


def _runs_into(state: State, reservation: Reservation, now: float, end: float | None) -> bool:
    """A job without a known end stays off for `reserve_ahead_s` before; always would leave the GPUs idle for weeks."""
    if now >= reservation.ends_at:
        return False
    if now >= reservation.begins_at:
        return True
    if end is None:
        return reservation.begins_at - now < state.rules.reserve_ahead_s
    return end > reservation.begins_at


def own_gpus(state: State, owner: str, now: float) -> dict[NodeName, set[GpuUuid]]:
    """The GPUs reserved for this owner right now."""
    found: dict[NodeName, set[GpuUuid]] = {}
    for reservation in state.reservations.values():
        if reservation.owner == owner and is_active(reservation, now):
            found.setdefault(reservation.node, set()).update(reservation.gpus)
    return found


def used_by(state: State, owner: str, node: Node, gpus: Iterable[GpuUuid], now: float) -> list[Reservation]:
    """The reservations that this start uses for the first time."""
    wanted = set(gpus)
    return [
        one
        for one in state.reservations.values()
        if not one.is_used
        and one.owner == owner
        and one.node == node.name
        and is_active(one, now)
        and wanted & set(one.gpus)
    ]
