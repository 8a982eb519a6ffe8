"""Points in time: the only place that reads them as people type them and shows them as a wall clock does.

Seconds since 1970 inside, ISO 8601 in UTC on the wire, local time for people. Sizes and durations are in `units`.
"""

from __future__ import annotations

import time

from tarmac.shared.units import DAY_S, LONGEST_S, duration, parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, Optional, Sequence, Tuple

    Clock = Tuple[int, int, int]  # hour, minute, second

MOMENTS = "22:00, 'in 3h', 'tomorrow 9:00', 'fri 18:00' or 2027-01-15T09:00"
PAST = "30d, 90m, 14:00, yesterday, mon, 2026-11-01 or 2026-11-01T09:00"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # as clocks show them
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_minutes: Dict[str, int] = {}  # a list of jobs has few different minutes, so each is worked out once


def epoch(moment: str) -> float:
    """Seconds since 1970 of `2026-11-15T20:35:01.5Z`. Importing datetime would take longer than this does."""
    minute = _minutes.get(moment[:16])
    if minute is None:
        days = _days_since_1970(int(moment[:4]), int(moment[5:7]), int(moment[8:10]))
        minute = days * DAY_S + int(moment[11:13]) * 3600 + int(moment[14:16]) * 60
        _minutes[moment[:16]] = minute
    return minute + float(moment[17:-1] if moment[-1] == "Z" else moment[17:].partition("+")[0])


def _days_since_1970(year: int, month: int, day: int) -> int:
    """Years are counted from March, so that the leap day is the last of its year."""
    if month <= 2:
        year -= 1
    months = (month + 9) % 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * months + 2) // 5 + day - 1 - 719468


def local(moment: str) -> str:
    """`2026-11-15 20:35:01` in local time, from ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch(moment)))


def clock(
    at: float,
    now: float,
    to_local: Callable[[float], time.struct_time] = time.localtime,
    days: Sequence[str] = DAYS,
) -> str:
    """14:30 if that is today, Thu 14:30 within six days, else with its date. `to_local` chooses the time zone."""
    then, today = to_local(at), to_local(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    if abs(at - now) < 6 * DAY_S:
        return time.strftime(f"{days[then.tm_wday]} %H:%M", then)
    return time.strftime("%Y-%m-%d %H:%M", then)


def parse_moment(text: str, now: Optional[float] = None) -> float:
    """Seconds since 1970 of a moment in the future, in local time unless it names a zone."""
    at = time.time() if now is None else now
    found = _moment(" ".join(text.split()), at)
    if found is None:
        raise ValueError(f"it must be a time in the future, such as {MOMENTS}")
    if found < at:
        raise ValueError(f"that was {duration(at - found)} ago ({clock(found, at)})")
    if found - at > 10 * LONGEST_S:
        raise ValueError("it is too far away")
    return found


def parse_past(text: str, now: Optional[float] = None) -> float:
    """Seconds since 1970 of a moment in the past: how long ago, or a date or time in local time."""
    at = time.time() if now is None else now
    found = _past(" ".join(text.split()), at)
    if found is None:
        raise ValueError(f"it must be a time in the past, such as {PAST}")
    if found > at:
        raise ValueError(f"that is in the future ({clock(found, at)})")
    return max(0.0, found)


def _past(text: str, now: float) -> Optional[float]:
    lower = text.lower()
    word = lower[: -len(" ago")] if lower.endswith(" ago") else lower
    at = _clock(word)
    if at is not None:
        today = _local(now, 0, at)
        return today if today <= now else _local(now, -1, at)
    if word in ("now", "today", "yesterday"):
        return now if word == "now" else _local(now, -int(word == "yesterday"), (0, 0, 0))
    if _is_weekday(word):
        return _local(now, (_days_until(word, now) or 7) - 7, (0, 0, 0))
    if word[:4].isdecimal() and word[4:5] == "-":
        return _iso(text)
    if word[:1].isdecimal() or word[:1] == ".":
        return now - parse_duration(word)
    return None


def _moment(text: str, now: float) -> Optional[float]:
    lower = text.lower()
    if lower == "now":
        return now
    for start in ("in ", "+"):
        if lower.startswith(start):
            return now + parse_duration(lower[len(start) :])
    at = _clock(lower)
    if at is not None:
        today = _local(now, 0, at)
        return today if today > now else _local(now, 1, at)
    day, _, rest = lower.partition(" ")
    days = _days_until(day, now)
    return _iso(text) if days is None else _on_day(day, days, rest, now)


def _on_day(day: str, days: int, rest: str, now: float) -> float:
    """`fri 18:00` is next week's if that is over today."""
    at = _clock(rest[3:] if rest.startswith("at ") else rest)
    if at is None:
        raise ValueError(f"{day} at what time? '{day} 9:00'")
    found = _local(now, days, at)
    return found if found > now or not _is_weekday(day) else _local(now, days + 7, at)


def _days_until(day: str, now: float) -> Optional[int]:
    if day in ("today", "tomorrow"):
        return int(day == "tomorrow")
    if not _is_weekday(day):
        return None
    names = [name[: len(day)] for name in WEEKDAYS]
    return (names.index(day) - time.localtime(now).tm_wday) % 7


def _is_weekday(day: str) -> bool:
    return len(day) >= 3 and any(name.startswith(day) for name in WEEKDAYS)


def _clock(text: str) -> Optional[Clock]:
    """Hour, minute, second of 9:00 or 22:00:30."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part.isdecimal() and part.isascii() and len(part) <= 2 for part in parts):
        return None
    hour, minute, second = [*map(int, parts), 0][:3]
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _local(now: float, days: int, at: Clock) -> float:
    """That time of day, `days` days from now, whether or not the clocks change in between."""
    today = time.localtime(now)
    return time.mktime((today.tm_year, today.tm_mon, today.tm_mday + days, *at, 0, 0, -1))


def _iso(text: str) -> Optional[float]:
    if not text[:4].isdecimal():
        return None
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).timestamp()  # local where it names no zone
    except (ValueError, OverflowError, OSError):
        return None
