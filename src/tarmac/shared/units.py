"""Sizes, durations and ranges of ids: the only place that reads and writes them. Pure: core and simulator may use it.

A reader returns the value or raises ValueError with a message that says what to type instead. All sizes are powers of
1024, as GPUs count. Wall clocks are in `clocks`, which needs the time zone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Iterable, List, Optional, Sequence

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
LONGEST_S = 366 * DAY_S  # of a time limit, a reservation or a setting
MOST_BYTES = 1 << 60
DURATIONS = "6h, 90m, 1h30m, 2d, 45:00, 1-12:00:00"
SIZES = "8G, 512M or 1.5T"

_SECONDS = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400,
    "day": 86400, "w": 604800, "week": 604800,
}  # fmt: skip
_BYTES = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_FOREVER_S = 1e10  # three centuries: anything longer is a mistake
_shown_durations: Dict[int, str] = {}  # a list of jobs has few different durations, so each is formatted once


def parse_duration(text: str, *, bare_is_seconds: bool = False) -> float:
    """Seconds of 6h, 1.5h, 1h30m, 2 days, 45:00 (minutes), 6:00:00, 1-12 (days and hours) or 1-12:00:00.

    A bare number needs a unit, unless the option or setting is documented to count seconds.
    """
    word = text.strip().lower()
    number = parse_decimal(word)
    if number is None:
        number = _clock_seconds(word) if ":" in word or "-" in word else _unit_seconds(word)
    elif not bare_is_seconds:
        raise ValueError(f"which unit? {word}m is minutes, {word}h hours, {word}s seconds")
    if number is None:
        raise ValueError(f"it must be a duration, such as {DURATIONS}")
    if number >= _FOREVER_S:
        raise ValueError("it is too long")
    return number


def parse_size(text: str) -> int:
    """Bytes of 8G, 512M, 1.5T, 100B; 8GB and 8GiB are the same as 8G. Only 0 needs no unit."""
    word = text.strip().upper()
    digits = word.rstrip("BIKMGT")
    number, unit = parse_decimal(digits.rstrip()), word[len(digits) :]
    if unit[1:] in ("B", "IB") and unit[0] != "B":
        unit = unit[0]
    if number is not None and not unit:
        if number == 0:
            return 0
        raise ValueError(f"which unit? {word}G or {word}M")
    if number is None or unit not in _BYTES:
        raise ValueError(f"it must be a size, such as {SIZES}")
    size = int(number * _BYTES[unit]) if "." in digits else int(digits) * _BYTES[unit]
    if size > MOST_BYTES:
        raise ValueError("it is too large")
    return size


def parse_decimal(text: str) -> Optional[float]:
    """The number of 1, 1.5 or .5; None for anything else, also for what only float() accepts (nan, 1e3, 1_000)."""
    whole, _, part = text.partition(".")
    digits = whole + part
    return float(text) if digits.isdecimal() and digits.isascii() and len(text) < 20 else None


def duration(seconds: float) -> str:
    """For tables, always two units: 4s, 3m04s, 2h15m, 3d04h."""
    whole = int(seconds) if seconds > 0 else 0
    shown = _shown_durations.get(whole)
    if shown is None:
        shown = _shown_durations[whole] = _in_two_units(whole)
    return shown


def _in_two_units(whole: int) -> str:
    if whole < MINUTE_S:
        return f"{whole}s"
    if whole < HOUR_S:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < DAY_S:
        return f"{whole // 3600}h{whole // 60 % 60:02}m"
    return f"{whole // 86400}d{whole // 3600 % 24:02}h"


def typed_duration(seconds: float) -> str:
    """Exact, as one would type it: 90s, 45m, 6h, 2d."""
    for unit in ("d", "h", "m"):
        if seconds and seconds % _SECONDS[unit] == 0:
            return f"{seconds / _SECONDS[unit]:.10g}{unit}"
    return f"{seconds:.10g}s"


def short_duration(seconds: Optional[float]) -> str:
    """Two significant digits, for statistics and axes: 0.4s, 12m, 3.5h, 2d; `-` for None."""
    if seconds is None:
        return "-"
    for unit in ("d", "h", "m", "s"):
        number = seconds / _SECONDS[unit]
        if number >= 1 or unit == "s":
            break
    return f"{number:.0f}{unit}" if number >= 9.95 or number == int(number) else f"{number:.1f}{unit}"


def duration_words(seconds: float) -> str:
    """For sentences: 90 s, 45 min, 6 h 5 min, 1 d 12 h."""
    if seconds < 2 * MINUTE_S:
        return f"{round(seconds) if seconds >= 10 else round(seconds, 1):g} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def spans(numbers: Iterable[int]) -> str:
    """3-7,9 for 3 4 5 6 7 9."""
    return runs(sorted(numbers))


def runs(numbers: Iterable[int]) -> str:
    """As `spans`, in the given order: 5,3-4 for 5 3 4."""
    parts: List[List[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)


def jobs_named(ids: Sequence[int]) -> str:
    """`job 7`, `jobs 3-7,9`."""
    return f"{'job' if len(ids) == 1 else 'jobs'} {spans(ids)}"


def size(count: Optional[float], absent: str = "?") -> str:
    """For tables and sentences: 512B, 23.5G, 128G."""
    if count is None:
        return absent
    for unit in ("B", "K", "M", "G", "T"):
        if count < 999.5 or unit == "T":
            break
        count /= 1024
    return f"{count:.0f}{unit}" if count >= 99.5 or unit == "B" else f"{count:.1f}{unit}"


def typed_size(count: int) -> str:
    """Exact, as one would type it: 512M, 1.5G, 24G; 0 has no unit."""
    for unit in ("T", "G", "M", "K"):
        whole, rest = divmod(count, _BYTES[unit])
        if whole and rest in (0, _BYTES[unit] // 2):
            return f"{whole}{'.5' if rest else ''}{unit}"
    return f"{count}B" if count else "0"


def _unit_seconds(text: str) -> Optional[float]:
    """Numbers with units, one after the other; a unit may be spelled out."""
    total, left = 0.0, text.replace(" ", "")
    if not left:
        return None
    while left:
        digits = len(left) - len(left.lstrip("0123456789."))
        number, left = parse_decimal(left[:digits]), left[digits:]
        letters = len(left) - len(left.lstrip("abcdefghijklmnopqrstuvwxyz"))
        unit, left = left[:letters], left[letters:]
        scale = _SECONDS.get(unit) or _SECONDS.get(unit[:-1] if unit.endswith("s") else unit)
        if number is None or scale is None:
            return None
        total += number * scale
    return total


def _clock_seconds(text: str) -> Optional[float]:
    """[D-]HH:MM:SS, and as in Slurm MM:SS, D-HH and D-HH:MM."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if len(parts) > 3 or not all(_is_short_number(part) for part in [*parts, *([days] if dash else [])]):
        return None
    numbers = [int(part) for part in parts]
    if any(number > 59 for number in numbers[1:]) or (dash and numbers[0] > 23):
        return None
    scales = (3600, 60, 1) if dash or len(numbers) == 3 else (60, 1)
    return float(int(days or 0) * DAY_S + sum(number * scale for number, scale in zip(numbers, scales)))


def _is_short_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 6
