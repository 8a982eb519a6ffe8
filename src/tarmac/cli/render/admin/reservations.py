"""Reservations as text: one as a sentence, all as a table."""

from __future__ import annotations

from time import time

from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import gpu_spans, safe
from tarmac.shared.clocks import clock, epoch
from tarmac.shared.units import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import GpuReservation, Reservation

HUES = {"active": "green", "waited for": "yellow"}


def in_words(kept: Reservation, now: float | None = None) -> str:
    """GPU 0-3 for ann from 22:00 until Sat 04:00."""
    at = time() if now is None else now
    return safe(f"GPU {_gpus(kept)} for {kept['owner']} {_span(kept, at)}")


def of_gpu(reserved: GpuReservation, at: float) -> str:
    """reserved for ann until 22:00"""
    return f"reserved for {reserved['owner']} {_span(reserved, at)}"


def table(kept: Sequence[Reservation], *, width: int | None, has_colours: bool, now: float | None = None) -> list[str]:
    at = time() if now is None else now
    states = [_state(each, at) for each in kept]
    hues = [HUES.get(state) for state in states] if has_colours else None
    columns = [
        Column("ID", [str(each["id"]) for each in kept], is_right=True),
        Column("STATE", states, styles=hues),
        Column("USER", [each["owner"] for each in kept], least=8),
        Column("GPUS", [_gpus(each) for each in kept]),
        Column("FROM", [clock(epoch(each["begins_at"]), at) for each in kept]),
        Column("UNTIL", [clock(epoch(each["ends_at"]), at) for each in kept]),
        Column("BY", [each["by"] for each in kept], least=8),
    ]
    return lines(columns, width, ("BY", "STATE"))


def _state(kept: Reservation, at: float) -> str:
    """Active once a job of its owner has started."""
    if kept["active"]:
        return "active" if kept["used"] else "waited for"
    return f"in {duration(epoch(kept['begins_at']) - at)}"


def _span(kept: Reservation | GpuReservation, at: float) -> str:
    begins, ends = epoch(kept["begins_at"]), epoch(kept["ends_at"])
    start = f"from {clock(begins, at)} " if begins > at else ""
    return f"{start}until {clock(ends, at)}"


def _gpus(kept: Reservation) -> str:
    """Its GPUs by index, or by UUID if gone."""
    return ",".join(gpu_spans(gpu["name"] for gpu in kept["gpus"]))
