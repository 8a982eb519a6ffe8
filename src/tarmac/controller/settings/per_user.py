"""A number for all users or projects, with exceptions by name: `1, ann=2, root=0`. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tarmac.core.model.rules import PerName
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from tarmac.controller.settings.setting import Setting

MOST = 1e9
MOST_NAMES = 10_000


def read_per_user(setting: Setting, value: Any) -> PerName:
    """The setting's default is the number for all users where only names are given."""
    name, text = setting.name, str(value)
    if isinstance(value, bool):
        raise invalid("setting.not_a_number", name=name, value=value, part=text)
    for_all: float | None = None
    of: dict[str, float] = {}
    for part in (part.strip() for part in text.split(",")):
        user, number = _read_part(setting, value, part)
        if user is None and for_all is not None:
            raise invalid("setting.default_twice", name=name, value=value)
        if user is None:
            for_all = number
        elif user in of:
            raise invalid("setting.user_twice", name=name, value=value, user=user)
        else:
            of[user] = number
    if len(of) > MOST_NAMES:
        raise invalid("setting.too_many_users", name=name, most=MOST_NAMES)
    return PerName(setting.default.default if for_all is None else for_all, tuple(of.items()))


def _read_part(setting: Setting, value: Any, part: str) -> tuple[str | None, float]:
    """`ann=2`, or `2` for all users."""
    user, equals, typed = part.rpartition("=")
    number = finite(typed)
    if number is None:
        raise invalid("setting.not_a_number", name=setting.name, value=value, part=typed.strip() or part)
    if number < setting.least:
        raise invalid("setting.number_too_small", name=setting.name, value=value, number=number, least=setting.least)
    if number > MOST:
        raise invalid("setting.number_too_large", name=setting.name, value=value, number=number, most=MOST)
    if equals and not user.strip():
        raise invalid("setting.no_user", name=setting.name, value=value, part=part)
    return user.strip() or None, number


def show_per_user(value: PerName) -> str:
    return ", ".join([number_text(value.default), *(f"{name}={number_text(number)}" for name, number in value.of)])


def number_text(number: float) -> str:
    return f"{number:.10g}"


def finite(text: str) -> float | None:
    """The number that a text stands for; None for nan, inf and anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
