"""How Chinese writes values into messages: lists with 、, full-width brackets, no plural, durations in words."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tarmac.api.wording.catalogue import formats
from tarmac.api.wording.catalogue.formats import MOST_LISTED
from tarmac.shared import units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.api.wording.catalogue.formats import Format

_UNITS = {"s": "秒", "min": "分钟", "h": "小时", "d": "天"}


def plain(value: Any, _: str = "") -> str:
    return "、".join(map(plain, value)) if isinstance(value, (list, tuple)) else formats.plain(value)


def _is_missing(value: Any) -> bool:
    return value in (None, "", (), [])


def prefixed(value: Any, prefix: str) -> str:
    return "" if _is_missing(value) else f"{prefix}{plain(value)}"


def around(value: Any, sides: str) -> str:
    """`{node:around 节点 | 的}`: with both sides; nothing for a missing value."""
    before, _, after = sides.partition("|")
    return "" if _is_missing(value) else f"{before}{plain(value)}{after}"


def only(value: Any, case: str) -> str:
    """`{reason:only exit= 结束}`: the text for one value, and nothing for the others."""
    wanted, _, text = case.partition("=")
    return text if str(value) == wanted else ""


def parenthesized(value: Any, _: str) -> str:
    return f"（{plain(value)}）" if value else ""


def listed(values: Iterable[Any], empty: str) -> str:
    return "、".join(map(plain, values)) or empty


def joined(values: Iterable[Any], separator: str) -> str:
    return separator.join(map(plain, values))


def either(values: Iterable[Any], _: str) -> str:
    """a; a 或 b; a、b 或 c."""
    words = list(map(plain, values))
    return " 或 ".join(["、".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def jobs(ids: tuple[int, ...] | list[int], _: str = "") -> str:
    """任务 3; 任务 1、2、3; with … after the eighth."""
    return "任务 " + "、".join(map(str, ids[:MOST_LISTED])) + (" …" if len(ids) > MOST_LISTED else "")


def spans(numbers: Iterable[int], _: str = "") -> str:
    return formats.spans(numbers).replace(", ", "、")


@lru_cache(maxsize=1024)
def _in_chinese(words: str) -> str:
    return " ".join(_UNITS.get(word, word) for word in words.split())


def in_words(seconds: float, _: str) -> str:
    """45 分钟, 6 小时 5 分钟."""
    return _in_chinese(units.duration_words(seconds))


CHINESE_FORMATS: dict[str, Format] = {
    **formats.FORMATS,
    "": plain,
    "prefixed": prefixed,
    "around": around,
    "only": only,
    "parenthesized": parenthesized,
    "list": listed,
    "join": joined,
    "or": either,
    "jobs": jobs,
    "spans": spans,
    "in_words": in_words,
}
