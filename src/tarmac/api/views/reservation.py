"""A reservation as people and programs see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.reservations import ReservationView, ReservedGpu
from tarmac.api.wording.times import iso
from tarmac.controller.submit.gpu_names import name_with
from tarmac.core.policy.reservations import is_active

if TYPE_CHECKING:
    from tarmac.core.model.queue import Reservation
    from tarmac.core.state import State


def reservation_view(state: State, one: Reservation, now: float) -> ReservationView:
    known = state.node(one.node).gpus
    indices = {uuid: known[uuid].index if uuid in known else None for uuid in one.gpus}
    return ReservationView(
        id=one.id,
        owner=one.owner,
        node=one.node,
        gpus=[
            ReservedGpu(index=index, uuid=uuid, name=name_with(one.node, index, uuid, state.nodes))
            for uuid, index in indices.items()
        ],
        begins_at=str(iso(one.begins_at)),
        ends_at=str(iso(one.ends_at)),
        by=one.by,
        active=one.id in state.reservations and is_active(one, now),
        used=one.is_used,
    )
