"""Moments and durations for people. The API speaks ISO 8601 in UTC; a terminal shows local time."""

from __future__ import annotations

import time

# A list of jobs has few different minutes and durations, so each is worked out once.
_minutes: dict[str, int] = {}
_durations: dict[int, str] = {}


def epoch(moment: str) -> float:
    """Seconds since 1970 of `2026-11-15T20:35:01.5Z`; datetime would take longer to import than this to run."""
    minute = _minutes.get(moment[:16])
    if minute is None:
        days = _days_since_1970(int(moment[:4]), int(moment[5:7]), int(moment[8:10]))
        minute = days * 86400 + int(moment[11:13]) * 3600 + int(moment[14:16]) * 60
        _minutes[moment[:16]] = minute
    return minute + float(moment[17:-1] if moment[-1] == "Z" else moment[17:].partition("+")[0])


def _days_since_1970(year: int, month: int, day: int) -> int:
    """Years counted from March, so that the leap day is the last of its year."""
    if month <= 2:
        year -= 1
    months = (month + 9) % 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * months + 2) // 5 + day - 1 - 719468


def duration(seconds: float) -> str:
    """4s, 3m04s, 2h15m, 3d04h."""
    whole = int(seconds) if seconds > 0 else 0
    shown = _durations.get(whole)
    if shown is None:
        shown = _durations[whole] = _in_words(whole)
    return shown


def _in_words(whole: int) -> str:
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole // 60 % 60:02}m"
    return f"{whole // 86400}d{whole // 3600 % 24:02}h"


def local(moment: str) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch(moment)))
