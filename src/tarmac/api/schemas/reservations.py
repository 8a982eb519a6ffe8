"""Reservations."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field


class ReservationRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """`gpus` GPUs of one node, beginning at `from` (seconds since the epoch), for `for_s` seconds."""

    gpus: Annotated[int, Meta(ge=1, le=100_000)]
    from_: Annotated[float, Meta(ge=0, le=253_402_300_799)] = field(name="from")
    for_s: Annotated[float, Meta(ge=1, le=366 * 86400)]
    user: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


class ReservedGpu(Struct, kw_only=True):
    index: int | None
    uuid: str
    name: str  # the index, with its node if there are several


class ReservationView(Struct, kw_only=True):
    id: int
    owner: str
    node: str
    gpus: list[ReservedGpu]
    begins_at: str
    ends_at: str
    by: str
    active: bool
    used: bool


class MadeReservation(ReservationView, kw_only=True):
    """`warnings`: a GPU may not be free in time, or the user is unknown."""

    warnings: list[str]


class ReservationList(Struct, kw_only=True):
    reservations: list[ReservationView]
