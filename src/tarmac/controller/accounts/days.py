"""Calendar days in the time zone of this machine. Days on which clocks change have 23 or 25 hours."""

from __future__ import annotations

import time
from typing import NamedTuple

LONGEST_S = 3660 * 86400.0  # a clock that jumped by centuries is not split into days


class Part(NamedTuple):
    day: str  # 2026-11-17
    seconds: float


class _Day(NamedTuple):
    name: str
    begin: float
    end: float
    zone: tuple[str, str]


_last = _Day("", 0.0, 0.0, ("", ""))  # most times are of the same day as the time before


def day_of(at: float) -> str:
    return _found(at).name


def midnight(at: float) -> float:
    """When the day began."""
    return _found(at).begin


def noon(day: str) -> float:
    """Raises ValueError if there is no such day."""
    year, month, number = map(int, day.split("-"))
    found = time.mktime((year, month, number, 12, 0, 0, 0, 0, -1))
    if time.localtime(found)[:3] != (year, month, number):
        raise ValueError(day)
    return found


def by_day(begin: float, end: float) -> list[Part]:
    """The time between two moments, by days."""
    parts = []
    begin = max(begin, end - LONGEST_S)
    while begin < end:
        day = _found(begin)
        until = min(end, day.end)
        parts.append(Part(day.name, until - begin))
        begin = until
    return parts


def _found(at: float) -> _Day:
    global _last  # noqa: PLW0603 - a cache
    if not _last.begin <= at < _last.end or _last.zone != time.tzname:
        now = time.localtime(at)
        year, month, day = now[:3]
        begin = time.mktime((year, month, day, 0, 0, 0, 0, 0, -1))
        end = time.mktime((year, month, day + 1, 0, 0, 0, 0, 0, -1))
        _last = _Day(f"{year:04}-{month:02}-{day:02}", min(begin, at), max(end, at + 1.0), time.tzname)
    return _last
