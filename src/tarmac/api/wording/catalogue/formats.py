"""How a value is written into a message: `{size:size}`, `{gpus:n GPU}`. Pure.

A format takes the value and what follows its name in the placeholder. A language may bring its own in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from signal import Signals
from typing import TYPE_CHECKING, Any, TypeAlias

from tarmac.api.wording.catalogue.message import Rendered
from tarmac.shared import units

if TYPE_CHECKING:
    from collections.abc import Iterable

Format: TypeAlias = Callable[[Any, str], str]
MOST_LISTED = 8


def plain(value: Any, _: str = "") -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.15g}"
        case Rendered():
            return value.message
        case list() | tuple():
            return ", ".join(map(plain, value))
        case _:
            return str(value)


def counted(number: float, noun: str) -> str:
    """1 GPU, 2 GPUs."""
    return f"{plain(number)} {noun if number == 1 else _many(noun)}"


def _many(noun: str) -> str:
    return f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"


def plural(value: Any, forms: str) -> str:
    """`{jobs:plural job|jobs}`, by a number or by the length of a list."""
    one, many = _forms(forms)
    return one if (len(value) if isinstance(value, (list, tuple)) else value) == 1 else many


def select(value: Any, cases: str) -> str:
    """`{on:select ok=end well|fail=fail}`; the value itself where no case names it."""
    found = _cases(cases).get(str(value))
    return plain(value) if found is None else found


@cache
def _forms(forms: str) -> tuple[str, str]:
    one, many = forms.split("|")
    return one, many


@cache
def _cases(cases: str) -> dict[str, str]:
    """Parsed once for each placeholder, as a list of jobs renders it thousands of times."""
    return dict(case.split("=", 1) for case in cases.split("|"))


def prefixed(value: Any, prefix: str) -> str:
    """With the prefix; nothing for a missing value."""
    return f"{prefix}{plain(value)}" if value not in (None, "", (), []) else ""


def parenthesized(value: Any, _: str) -> str:
    """After a blank; nothing for a missing value."""
    return f" ({plain(value)})" if value else ""


def listed(values: Iterable[Any], empty: str) -> str:
    return ", ".join(map(plain, values)) or empty


def joined(values: Iterable[Any], separator: str) -> str:
    return separator.join(map(plain, values))


def either(values: Iterable[Any], _: str) -> str:
    """a; a or b; a, b or c."""
    words = list(map(plain, values))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def quoted(value: Any, _: str) -> str:
    return repr(value)


def jobs(ids: tuple[int, ...] | list[int], _: str = "") -> str:
    """job 3; jobs 1, 2, 3; with … after the eighth."""
    shown = ", ".join(map(str, ids[:MOST_LISTED])) + (", …" if len(ids) > MOST_LISTED else "")
    return f"{'job' if len(ids) == 1 else 'jobs'} {shown}"


def spans(numbers: Iterable[int], _: str = "") -> str:
    """0-3, 6"""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in found)


def size(count: int, _: str = "") -> str:
    return units.size(count)


def percent(fraction: float, _: str) -> str:
    return f"{fraction * 100:g}%"


def rounded(number: float, _: str) -> str:
    return f"{number:.1f}"


def duration(seconds: float, _: str) -> str:
    """As one would type it: 90s, 45m, 6h, 2d."""
    return units.typed_duration(seconds)


def in_words(seconds: float, _: str) -> str:
    """45 min, 6 h."""
    return units.duration_words(seconds)


def signal_name(number: int) -> str:
    """SIGKILL; `signal 40` for one without a name."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def hint(refusal: Rendered, _: str) -> str:
    return refusal.hint or ""


FORMATS: dict[str, Format] = {
    "": plain,
    "n": counted,
    "plural": plural,
    "select": select,
    "prefixed": prefixed,
    "parenthesized": parenthesized,
    "list": listed,
    "join": joined,
    "or": either,
    "quoted": quoted,
    "jobs": jobs,
    "spans": spans,
    "size": size,
    "percent": percent,
    "rounded": rounded,
    "duration": duration,
    "in_words": in_words,
    "hint": hint,
}
