"""Reservations: GPUs kept free for the jobs of one user for a time."""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from tarmac.api.deps import Context
from tarmac.api.schemas.reservations import (
    MadeReservation,
    ReservationList,
    ReservationRequest,
    ReservationView,
)
from tarmac.api.views.reservation import reservation_view
from tarmac.api.wording.reservation_warnings import warnings_for
from tarmac.api.wording.times import END_OF_TIME
from tarmac.controller.engine.decision import Decision
from tarmac.core.events import ReservationEnded, ReservationMade
from tarmac.core.handlers.queue.reservations import chosen_gpus
from tarmac.core.model.queue import Reservation
from tarmac.core.policy.reservations import is_active
from tarmac.refusal import conflict, invalid, not_allowed, not_found

if TYPE_CHECKING:
    from tarmac.core.state import State

MOST_RESERVATIONS = 1000
A_MOMENT_AGO_S = 60.0


async def list_reservations(context: Context) -> ReservationList:
    """List the reservations that are not over, in the order in which they begin."""
    controller = context.controller
    ordered = sorted(controller.state.reservations.values(), key=lambda one: (one.begins_at, one.id))
    return ReservationList(reservations=[reservation_view(controller.state, one, controller.now()) for one in ordered])


async def make_reservation(context: Context, body: ReservationRequest) -> MadeReservation:
    """Reserve GPUs of one node for a user. Other jobs that would run into the reservation are not started there."""
    controller = context.controller

    speech = copy_context()  # the caller's language and time zone; the engine calls the plan in another context

    def plan(state: State) -> Decision[MadeReservation]:
        now = controller.now()
        made = _planned(state, context.caller.name, body, now)
        view = asdict(reservation_view(state, made, now)) | {"active": is_active(made, now)}
        answer = MadeReservation(**view, warnings=speech.run(warnings_for, controller, made))
        return Decision(answer=answer, events=[ReservationMade(reservation=made)])

    return await context.decide(plan)


async def end_reservation(context: Context, number: int) -> ReservationView:
    """End a reservation. Running jobs continue."""
    controller, caller = context.controller, context.caller
    known = controller.state.reservations.get(number)
    if known is None:
        raise not_found("reservation.unknown", reservation=number)
    if caller.name != known.owner and not caller.is_admin:
        raise not_allowed("reservation.not_owner", reservation=number, owner=known.owner)
    event = ReservationEnded(reservation=number, by=caller.name)

    def plan(state: State) -> Decision[ReservationView]:
        ended = reservation_view(state, known, controller.now())
        return Decision(answer=msgspec.structs.replace(ended, active=False), events=[event])

    return await context.decide(plan)


def _planned(state: State, caller: str, body: ReservationRequest, now: float) -> Reservation:
    if body.from_ < now - A_MOMENT_AGO_S:
        raise invalid("reservation.in_the_past")
    if len(state.reservations) >= MOST_RESERVATIONS:
        raise conflict("reservation.too_many", most=MOST_RESERVATIONS)
    most = max((len(node.gpus) for node in state.nodes.values()), default=0)
    if body.gpus > most:
        raise invalid("reservation.too_wide", gpus=body.gpus, most=most)
    owner, begins_at = body.user or caller, max(body.from_, now)
    ends_at = begins_at + body.for_s
    if ends_at > END_OF_TIME:
        raise invalid("reservation.too_late")
    chosen = chosen_gpus(state, gpus=body.gpus, owner=owner, begins_at=begins_at, ends_at=ends_at)
    if chosen is None:
        raise conflict("reservation.no_gpus", gpus=body.gpus)
    node, gpus = chosen
    return Reservation(
        id=state.next_reservation, owner=owner, node=node, gpus=gpus, begins_at=begins_at, ends_at=ends_at, by=caller
    )
