"""GPU time by the hour, in the time zone of this machine, until it is stored."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.accounts.days import LONGEST_S
from tarmac.store.node_hours import NodeHour

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.nodes.reports import GpuReading

HOUR_S = 3600


class HourPart(NamedTuple):
    at: int  # when the hour began
    seconds: float


class _Key(NamedTuple):
    at: int
    node: str


def hour_of(moment: float) -> int:
    """When the hour began, by the clock on the wall: in some zones not at a multiple of 3600."""
    wall = time.localtime(moment)
    return int(moment) - wall.tm_min * 60 - wall.tm_sec


def by_hour(begin: float, end: float) -> list[HourPart]:
    """The time between two moments, by hours."""
    parts = []
    begin = max(begin, end - LONGEST_S)
    while begin < end:
        at = hour_of(begin)
        until = min(end, at + HOUR_S)
        parts.append(HourPart(at, until - begin))
        begin = until
    return parts


class HourBook:
    """What is not stored yet."""

    def __init__(self) -> None:
        self._hours: dict[_Key, NodeHour] = {}

    def add(self, node: str, reading: GpuReading, span: tuple[float, float], held: float) -> None:
        """Count a GPU between two moments. `held`: the part of it that jobs have booked."""
        for at, seconds in by_hour(*span):
            measured_s = 0.0 if reading.utilization is None else seconds
            self._put(
                NodeHour(
                    at=at,
                    node=node,
                    present_s=seconds,
                    held_s=seconds * min(1.0, held),
                    measured_s=measured_s,
                    used_s=measured_s * (reading.utilization or 0) / 100,
                )
            )

    def rows(self) -> list[NodeHour]:
        return list(self._hours.values())

    def has_past(self, now: float) -> bool:
        """True if an hour is over that is not stored."""
        return bool(self._hours) and min(self._hours).at < hour_of(now)

    def take(self) -> tuple[list[NodeHour], Callable[[], None]]:
        """The rows, for a caller that stores them. The function takes that back."""
        taken, self._hours = self.rows(), {}

        def undo() -> None:
            for row in taken:
                self._put(row)

        return taken, undo

    def _put(self, row: NodeHour) -> None:
        key = _Key(row.at, row.node)
        known = self._hours.get(key)
        self._hours[key] = row if known is None else both(known, row)


def both(one: NodeHour, other: NodeHour) -> NodeHour:
    return NodeHour(
        at=one.at,
        node=one.node,
        present_s=one.present_s + other.present_s,
        held_s=one.held_s + other.held_s,
        measured_s=one.measured_s + other.measured_s,
        used_s=one.used_s + other.used_s,
    )
