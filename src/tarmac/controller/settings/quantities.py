"""Fractions, durations, sizes and counts as people write them. Pure; None where the text means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tarmac.controller.settings.per_user import finite, show_per_name, shown
from tarmac.shared.units import LONGEST_S, parse_duration, parse_size, typed_size

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

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
    """90, 90s, 30m, 1h30m, 1.5h, 2d."""
    total = None if isinstance(value, bool) else _read(parse_duration, value, bare_is_seconds=True)
    return total if total is not None and total <= LONGEST_S else None


def size_bytes(value: Any) -> int | None:
    """512M, 8G, 1.5T, 100B; only 0 needs no unit."""
    return _read(parse_size, value)


def _read(parse: Callable[..., T], value: Any, **more: bool) -> T | None:
    try:
        return parse(str(value), **more)
    except ValueError:
        return None


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
        return typed_size(value)
    if kind == "words":
        return ",".join(value)
    if kind == "flag":
        return "on" if value else "off"
    if kind == "per name":
        return show_per_name(value)
    return shown(value) if isinstance(value, float) else str(value)
