"""A number for everybody and others for some, as people write it: `1, ann=2, root=0`. Pure."""

from __future__ import annotations

import math
from typing import Any

from tarmac.core.model.rules import PerName

MOST = 1e9
MOST_NAMES = 10_000


def per_name(value: Any, *, default: float, least: float = 0) -> PerName | str:
    """What was meant, or what is wrong with it. `default` holds for everybody where only names are given."""
    text = str(value)
    if isinstance(value, bool):
        return f"{text} is no number"
    everybody: float | None = None
    of: dict[str, float] = {}
    for item in (part.strip() for part in text.split(",")):
        name, is_named, number_text = item.rpartition("=")
        number, name = finite(number_text), name.strip()
        if number is None:
            return f"{number_text.strip() or item!r} is no number"
        if not least <= number <= MOST:
            return f"{shown(number)} is {'less than ' + shown(least) if number < least else 'too much'}"
        if is_named and not name:
            return f"{item!r} names nobody"
        if name in of or (not name and everybody is not None):
            return f"{name or 'the number for everybody'} stands there twice"
        if name:
            of[name] = number
        else:
            everybody = number
    if len(of) > MOST_NAMES:
        return f"more than {MOST_NAMES} names"
    return PerName(default if everybody is None else everybody, tuple(of.items()))


def shown(number: float) -> str:
    return f"{number:.10g}"


def show_per_name(value: PerName) -> str:
    return ", ".join([shown(value.default), *(f"{name}={shown(number)}" for name, number in value.of)])


def finite(text: str) -> float | None:
    """The number that a text stands for, if it is one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
