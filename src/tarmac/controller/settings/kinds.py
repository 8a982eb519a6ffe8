"""The kinds of settings: how each is read from a config file or as typed, and shown. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tarmac.controller.settings.checks import check
from tarmac.controller.settings.per_user import finite, number_text, read_per_user, show_per_user
from tarmac.refusal import Refused, invalid
from tarmac.shared.numbers import whole_number
from tarmac.shared.units import LONGEST_S, parse_duration, parse_size, typed_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.settings.setting import Kind, Setting

T = TypeVar("T")

MOST_COUNT = 1_000_000
LONGEST_TEXT = 4096
_FLAGS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def parsed(setting: Setting, value: Any) -> Any:
    """The value of a typed text or a TOML value. Refuses values that do not fit the setting."""
    if setting.kind == "per name":
        return read_per_user(setting, value)
    if setting.kind == "choice":
        if value not in setting.choices:
            raise invalid("setting.not_a_choice", name=setting.name, value=value, choices=setting.choices)
        return value
    read = _READERS[setting.kind](value)
    if read is None:
        raise _wrong_kind(setting, value)
    check(setting, read)
    return read


def _wrong_kind(setting: Setting, value: Any) -> Refused:
    """Suggests what a number without a unit most likely means."""
    name, kind, number = setting.name, setting.kind, finite(str(value).strip())
    if kind == "seconds":
        return invalid("setting.not_a_duration", name=name, value=value, least=setting.least, most=setting.most)
    if kind == "size" and number is not None and number > 0:
        return invalid("setting.without_unit", name=name, value=value, kind=kind, number=number)
    if kind == "fraction" and number is not None and 1 < number <= 100:
        fraction = number / 100
        return invalid("setting.percent_meant", name=name, value=value, kind=kind, number=number, fraction=fraction)
    return invalid("setting.wrong_kind", name=name, value=value, kind=kind)


def read_fraction(value: Any) -> float | None:
    """0.2 or 20%."""
    text = str(value).strip()
    number = finite(text.removesuffix("%"))
    if number is None or isinstance(value, bool):
        return None
    number = number / 100 if text.endswith("%") else number
    return number if 0 <= number <= 1 else None


def read_seconds(value: Any) -> float | None:
    """90, 90s, 30m, 1h30m, 1.5h, 2d."""
    total = None if isinstance(value, bool) else _read(parse_duration, value, bare_is_seconds=True)
    return total if total is not None and total <= LONGEST_S else None


def read_size(value: Any) -> int | None:
    """512M, 8G, 1.5T, 100B; only 0 needs no unit."""
    return _read(parse_size, value)


def _read(parse: Callable[..., T], value: Any, **more: bool) -> T | None:
    try:
        return parse(str(value), **more)
    except ValueError:
        return None


def read_count(value: Any) -> int | None:
    return whole_number(str(value).strip(), MOST_COUNT)


def read_words(value: Any) -> tuple[str, ...] | None:
    """Separated by commas, or a TOML list."""
    if isinstance(value, (list, tuple)):
        return tuple(value) if all(isinstance(word, str) for word in value) else None
    return tuple(word.strip() for word in str(value).split(",") if word.strip())


def read_flag(value: Any) -> bool | None:
    """on, off, and the equivalents of TOML and other tools."""
    return _FLAGS.get(str(value).strip().lower())


def read_text(value: Any) -> str | None:
    return value if isinstance(value, str) and len(value) <= LONGEST_TEXT and "\0" not in value else None


_READERS: dict[Kind, Callable[[Any], Any]] = {
    "fraction": read_fraction,
    "seconds": read_seconds,
    "size": read_size,
    "count": read_count,
    "words": read_words,
    "flag": read_flag,
    "text": read_text,
}


def show(kind: Kind, value: Any) -> str:
    """The value as a user would type it."""
    match kind:
        case "size":
            return typed_size(value)
        case "words":
            return ",".join(value)
        case "flag":
            return "on" if value else "off"
        case "per name":
            return show_per_user(value)
        case _:
            return number_text(value) if isinstance(value, float) else str(value)
