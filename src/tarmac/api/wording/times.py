"""Times for programs, as ISO 8601 in UTC, and for people, on the wall clock of the caller's time zone."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from time import struct_time
from zoneinfo import ZoneInfo

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.shared.clocks import clock

END_OF_TIME = 253_402_300_799.0  # the end of the year 9999: no date is later

_zone: ContextVar[ZoneInfo | None] = ContextVar("zone", default=None)  # of the caller; None: the zone of the controller


def tell_in_zone(name: str | None) -> None:
    """Show clocks in this zone for the rest of the request. An unknown zone means the controller's."""
    try:
        _zone.set(ZoneInfo(name) if name else None)
    except (KeyError, ValueError, OSError):
        _zone.set(None)


def zone() -> str | None:
    """The name of the zone that clocks are shown in; None for the controller's."""
    found = _zone.get()
    return None if found is None else found.key


@lru_cache(maxsize=4096)
def iso(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return (
        datetime.fromtimestamp(min(seconds, END_OF_TIME), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


def date_and_clock(at: float) -> str:
    """2026-11-17 14:02 UTC, in the zone of the controller: for readers whose zone is not known."""
    return datetime.fromtimestamp(min(at, END_OF_TIME - 86400), UTC).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def at_clock(at: float, now: float) -> str:
    """14:02; Mon 14:02 within six days; else with the date."""
    return clock(at, now, _in_zone, say("clock.weekdays").split())


def _in_zone(at: float) -> struct_time:
    # In some zones the last day of the year 9999 is a day of the year 10000.
    return datetime.fromtimestamp(min(at, END_OF_TIME - 86400), _zone.get()).timetuple()
