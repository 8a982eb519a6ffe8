"""Moments and durations for people. The API speaks ISO 8601 in UTC; a terminal shows local time."""

from __future__ import annotations

import time

_days: dict[str, int] = {}  # a list of jobs has few different dates


def epoch(moment: str) -> float:
    """Seconds since 1970 of `2026-11-15T20:35:01.5Z`; datetime would take longer to import than this to run."""
    date, clock = moment[:10], moment[11:].rstrip("Z").partition("+")[0]
    days = _days.get(date)
    if days is None:
        days = _days[date] = _days_since_1970(int(date[:4]), int(date[5:7]), int(date[8:10]))
    return days * 86400 + int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + float(clock[6:])


def _days_since_1970(year: int, month: int, day: int) -> int:
    """Years counted from March, so that the leap day is the last of its year."""
    if month <= 2:
        year -= 1
    months = (month + 9) % 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * months + 2) // 5 + day - 1 - 719468


def duration(seconds: float) -> str:
    """4s, 3m04s, 2h15m, 3d04h."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole // 60 % 60:02}m"
    return f"{whole // 86400}d{whole // 3600 % 24:02}h"


def local(moment: str) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch(moment)))
