"""The queue as a whole: paused, resumed, drained; suspended owners; reservations made and ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.events import OwnersResumed, QueueDrained, QueuePaused, QueueResumed, ReservationEnded, ReservationMade
from tarmac.core.model.queue import Mode

if TYPE_CHECKING:
    from tarmac.core.state import State

QueueEvent: TypeAlias = QueuePaused | QueueResumed | OwnersResumed | QueueDrained | ReservationMade | ReservationEnded


def change(state: State, event: QueueEvent, now: float) -> None:
    match event:
        case QueuePaused():
            state.set_mode(_closed(replace(state.mode, is_paused=True), event, now))
        case QueueDrained():
            state.set_mode(_closed(replace(state.mode, is_draining=True), event, now))
        case QueueResumed():
            state.failures.clear()
            state.set_mode(Mode())
        case OwnersResumed(owners=owners):
            for owner in owners:
                state.set_suspension(owner, None)
        case ReservationMade(reservation=reservation):
            state.set_reservation(reservation.id, reservation)
            state.next_reservation = max(state.next_reservation, reservation.id + 1)
        case ReservationEnded(reservation=number):
            state.set_reservation(number, None)
        case _:
            assert_never(event)


def _closed(mode: Mode, event: QueuePaused | QueueDrained, now: float) -> Mode:
    """A request without a reason does not replace an earlier reason, its author and its time."""
    if mode.reason and not event.reason:
        return mode
    return replace(mode, by=event.by, reason=event.reason, since=now)
