"""Requests about the queue as a whole: its mode, suspended owners, reservations, rules."""

from __future__ import annotations

from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import Rules
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersResumed:
    """The jobs of these owners are no longer suspended."""

    owners: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePaused:
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueResumed:
    """Ends a pause, a drain or both."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDrained:
    """No new jobs are accepted; waiting and running jobs go on."""

    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStopped:
    """Paused, and running jobs return to the front of the queue."""

    by: str
    grace_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationMade:
    reservation: Reservation


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationEnded:
    reservation: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesSet:
    rules: Rules
