"""Times and lengths of time in words: for programs as ISO 8601 in UTC, for people as a clock on the wall shows them."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

DAY_S = 86400
_zone: ContextVar[tzinfo | None] = ContextVar("zone", default=None)  # of whoever asks; None: the controller's own


def tell_in_zone(name: str | None) -> None:
    """From here on in this request, clocks are those of the zone; of one that is not known, our own."""
    try:
        _zone.set(ZoneInfo(name) if name else None)
    except (KeyError, ValueError, OSError):
        _zone.set(None)


def iso(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def at_clock(at: float, now: float) -> str:
    """14:02; Mon 14:02 within six days; else with the date."""
    zone = _zone.get()
    moment, today = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(now, zone)
    if moment.date() == today.date():
        return f"{moment:%H:%M}"
    return f"{moment:%a %H:%M}" if abs(at - now) < 6 * DAY_S else f"{moment:%Y-%m-%d %H:%M}"


def length(seconds: float) -> str:
    """90 s, 45 min, 6 h, 1 d 12 h."""
    if seconds < 120:
        return f"{seconds:g} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
