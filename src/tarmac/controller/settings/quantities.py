"""Fractions, durations, sizes and counts as people write them. Pure; None where the text means nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tarmac.controller.settings.per_user import finite, show_per_name, shown

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])i?B?|B)", re.IGNORECASE | re.ASCII)
DAY_S = 86400
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": DAY_S}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)", re.ASCII)
LONGEST_S = 366 * DAY_S
MOST_BYTES = 1 << 60
MOST_COUNT = 1_000_000
_FLAGS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def fraction(value: Any) -> float | None:
    """0.2 or 20%."""
    text = str(value).strip()
    number = finite(text.removesuffix("%"))
    if number is None or isinstance(value, bool):
        return None
    number = number / 100 if text.endswith("%") else number
    return number if 0 <= number <= 1 else None


def seconds(value: Any) -> float | None:
    """90, 90s, 30m, 1.5h, 2d."""
    found = _DURATION.fullmatch(str(value).strip())
    if found is None or isinstance(value, bool):
        return None
    total = float(found[1]) * _SECONDS[found[2]]
    return total if total <= LONGEST_S else None


def size_bytes(value: Any) -> int | None:
    """512M, 8G, 1.5T, 100B. A bare number could be any of them, unless it is 0."""
    written = str(value).strip()
    if written == "0":
        return 0
    found = _SIZE.fullmatch(written)
    if found is None:
        return None
    size = int(float(found[1]) * _UNITS[(found[2] or "").upper()])
    return size if size <= MOST_BYTES else None


def count(value: Any) -> int | None:
    text = str(value).strip()
    return int(text) if text.isdecimal() and text.isascii() and int(text) <= MOST_COUNT else None


def words(value: Any) -> tuple[str, ...] | None:
    """With commas between; a list where TOML has one."""
    if isinstance(value, (list, tuple)):
        return tuple(value) if all(isinstance(word, str) for word in value) else None
    return tuple(word.strip() for word in str(value).split(",") if word.strip())


def flag(value: Any) -> bool | None:
    """on, off, or what TOML and others write for it."""
    return _FLAGS.get(str(value).strip().lower())


def text(value: Any) -> str | None:
    return value if isinstance(value, str) and len(value) <= 4096 and "\0" not in value else None


KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "fraction": (fraction, "a fraction from 0 to 1, such as 0.2 or 20%"),
    "seconds": (seconds, "a duration from 0 to 366d, such as 90, 30m or 1.5h"),
    "size": (size_bytes, "a size with its unit, such as 512M or 8G"),
    "count": (count, f"a whole number from 0 to {MOST_COUNT}"),
    "words": (words, "a list with commas between"),
    "flag": (flag, "on or off"),
    "text": (text, "a text of at most 4096 characters"),
}


def meant(kind: str, value: Any) -> str | None:
    """What a bare number most likely stands for, where it is not taken as it is."""
    number = finite(str(value).strip())
    if number is None or number <= 0:
        return None
    if kind == "size":
        return f"{number:g}G or {number:g}M, with its unit"
    return f"{number:g}%, or to {number / 100:g}" if kind == "fraction" and 1 < number <= 100 else None


def show(kind: str, value: Any) -> str:
    """As it would be typed."""
    if kind == "size":
        return shown_size(value)
    if kind == "words":
        return ",".join(value)
    if kind == "flag":
        return "on" if value else "off"
    if kind == "per name":
        return show_per_name(value)
    return shown(value) if isinstance(value, float) else str(value)


def shown_size(size: int) -> str:
    for unit in ("T", "G", "M", "K"):
        if size >= _UNITS[unit]:
            number = size / _UNITS[unit]
            return f"{number:.0f}{unit}" if number == int(number) else f"{number:.1f}{unit}"
    return f"{size}B" if size else "0"


def shown_seconds(seconds: float) -> str:
    for unit in ("d", "h", "m"):
        if seconds and seconds % _SECONDS[unit] == 0:
            return f"{seconds / _SECONDS[unit]:g}{unit}"
    return f"{seconds:g}s"
