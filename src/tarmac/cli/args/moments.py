"""Lengths and moments of time as people type them: 90m, 1-12:00:00, 22:00, in 3h, tomorrow 9:00, ISO 8601.

Each reader gives the value or says, as a ValueError, what it should have been. Loaded only where one was typed.
"""

from __future__ import annotations

import time

UNITS = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400,
    "day": 86400, "w": 604800, "week": 604800,
}  # fmt: skip
LONGEST_S = 366 * 86400.0
LENGTHS = "6h, 90m, 1h30m, 2d, 45:00 or 1-12:00:00"
MOMENTS = "22:00, 'in 3h', 'tomorrow 9:00', 'fri 18:00' or 2027-01-15T09:00"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def length(word: str) -> float:
    """Seconds of 6h, 1.5h, 1h30m, 2 days, 45:00 (minutes), 6:00:00, 1-12 (days and hours), 1-12:00:00."""
    text = word.strip().lower()
    if text.isdecimal():
        raise ValueError(f"which unit? {text}m is minutes, {text}h hours, {text}s seconds")
    seconds = _of_clock(text) if ":" in text or "-" in text else _of_units(text)
    if seconds is None:
        raise ValueError(f"it must be a length of time, such as {LENGTHS}")
    if seconds <= 0:
        raise ValueError("it must be more than nothing")
    if seconds > LONGEST_S:
        raise ValueError("it is too long")
    return seconds


def moment(word: str, now: float | None = None) -> float:
    """Seconds since 1970 of a moment to come, in local time where no other is named."""
    at = time.time() if now is None else now
    found = _moment(" ".join(word.split()), at)
    if found is None:
        raise ValueError(f"it must be a moment to come, such as {MOMENTS}")
    if found < at:
        from tarmac.cli.render.times import duration

        raise ValueError(f"that was {duration(at - found)} ago ({in_words(found, at)})")
    if found - at > 10 * LONGEST_S:
        raise ValueError("it is too far away")
    return found


def in_words(at: float, now: float) -> str:
    """14:30 if that is today, Thu 14:30 within six days, else with its date."""
    then, today = time.localtime(at), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    return time.strftime("%a %H:%M" if 0 < at - now < 6 * 86400 else "%Y-%m-%d %H:%M", then)


def _of_units(text: str) -> float | None:
    """Numbers with units, one after the other; a unit may be written out."""
    total, number, left = 0.0, "", text.replace(" ", "")
    if not left:
        return None
    while left:
        digits = len(left) - len(left.lstrip("0123456789."))
        number, left = left[:digits], left[digits:]
        letters = len(left) - len(left.lstrip("abcdefghijklmnopqrstuvwxyz"))
        unit, left = left[:letters], left[letters:]
        scale = UNITS.get(unit) or UNITS.get(unit.removesuffix("s"))
        if scale is None or not number.replace(".", "", 1).isdecimal() or len(number) > 12:
            return None
        total += float(number) * scale
    return total


def _of_clock(text: str) -> float | None:
    """[D-]HH:MM:SS, and as cluster schedulers have it MM:SS, D-HH, D-HH:MM."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(map(_is_number, [*parts, *([days] if dash else [])])) or len(parts) > 3:
        return None
    numbers = [int(part) for part in parts]
    if any(number > 59 for number in numbers[1:]) or (dash and numbers[0] > 23):
        return None
    scales = (3600, 60, 1) if dash or len(numbers) == 3 else (60, 1)
    seconds = sum(number * scale for number, scale in zip(numbers, scales, strict=False))
    return float(int(days or 0) * 86400 + seconds)


def _moment(text: str, now: float) -> float | None:
    lower = text.lower()
    if lower == "now":
        return now
    if lower.startswith(("in ", "+")):
        return now + length(lower.removeprefix("in ").removeprefix("+"))
    if (clock := _clock(lower)) is not None:
        today = _local(now, 0, clock)
        return today if today > now else _local(now, 1, clock)
    day, _, rest = lower.partition(" ")
    days = _days_until(day, now)
    if days is None:
        return _iso(text)
    clock = _clock(rest.removeprefix("at "))
    if clock is None:
        raise ValueError(f"{day} at what time? '{day} 9:00'")
    at = _local(now, days, clock)
    return at if at > now or not _is_weekday(day) else _local(now, days + 7, clock)


def _days_until(day: str, now: float) -> int | None:
    if day in {"today", "tomorrow"}:
        return int(day == "tomorrow")
    if not _is_weekday(day):
        return None
    names = [name[: len(day)] for name in WEEKDAYS]
    return (names.index(day) - time.localtime(now).tm_wday) % 7


def _is_weekday(day: str) -> bool:
    return len(day) >= 3 and any(name.startswith(day) for name in WEEKDAYS)


def _clock(text: str) -> tuple[int, int, int] | None:
    """Hour, minute, second of 9:00 or 22:00:30."""
    parts = text.split(":")
    if len(parts) not in {2, 3} or not all(_is_number(part) and len(part) <= 2 for part in parts):
        return None
    hour, minute, second = (*map(int, parts), 0)[:3]
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _local(now: float, days: int, clock: tuple[int, int, int]) -> float:
    """That time of day so many days on, whether or not the clocks change in between."""
    today = time.localtime(now)
    return time.mktime((today.tm_year, today.tm_mon, today.tm_mday + days, *clock, 0, 0, -1))


def _iso(text: str) -> float | None:
    if not text[:4].isdecimal():
        return None
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).timestamp()  # local where it names no zone
    except (ValueError, OverflowError, OSError):
        return None


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 6
