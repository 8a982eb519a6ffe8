"""GPU time of each node by the hour: how much there was, was held by jobs, and was used."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, NamedTuple

from tarmac.records import dataclass

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHour:
    """GPU time to add to one hour of a node."""

    at: int  # when the hour began
    node: str
    present_s: float = 0.0
    held_s: float = 0.0
    measured_s: float = 0.0
    used_s: float = 0.0


class HourSums(NamedTuple):
    """GPU-seconds of all nodes."""

    present_s: float
    held_s: float
    measured_s: float
    used_s: float


def add(connection: sqlite3.Connection, hours: Iterable[NodeHour]) -> None:
    connection.executemany(
        "INSERT INTO node_hours VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (at, node) DO UPDATE SET"
        " present_s = present_s + excluded.present_s, held_s = held_s + excluded.held_s,"
        " measured_s = measured_s + excluded.measured_s, used_s = used_s + excluded.used_s",
        map(astuple, hours),
    )


def sums(connection: sqlite3.Connection, begin: float, end: float) -> dict[int, HourSums]:
    """By the beginning of the hour, for those that begin in this period."""
    found = connection.execute(
        "SELECT at, sum(present_s), sum(held_s), sum(measured_s), sum(used_s) FROM node_hours"
        " WHERE at >= ? AND at < ? GROUP BY at",
        (begin, end),
    )
    return {row[0]: HourSums(*row[1:]) for row in found}


def first(connection: sqlite3.Connection) -> int | None:
    found: int | None = connection.execute("SELECT min(at) FROM node_hours").fetchone()[0]
    return found
