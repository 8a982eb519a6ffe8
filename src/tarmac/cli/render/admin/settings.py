"""The settings as a table, and one of them in full."""

from __future__ import annotations

from tarmac.cli.render.table import GAP, Column, lines
from tarmac.cli.render.text import cells, cut, safe, wrapped
from tarmac.cli.term.terminal import paint
from tarmac.shared.units import typed_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.records import Setting

LEAST_MEANING = 36  # if narrower, meanings are below their setting
MOST_VALUE, LEAST_VALUE = 20, 8
INDENT = "    "


def table(settings: Sequence[Setting], *, width: int | None, has_colours: bool) -> list[str]:
    """Changed settings stand out. Meanings continue on the next line, below their setting where space is short."""
    meanings = [safe(setting.meaning) for setting in settings]
    columns = _columns(settings, None, has_colours=has_colours)
    if width is None or _taken(columns) + max(map(cells, meanings)) <= width:
        return lines([*columns, Column("MEANING", meanings)])
    columns = _columns(settings, MOST_VALUE, has_colours=has_colours)
    taken = _taken(columns)
    if width - taken < LEAST_MEANING:
        return _with_meanings_below(columns, meanings, width, has_colours=has_colours)
    folded = [wrapped(text, width - taken) for text in meanings]
    head, *rows = lines([*columns, Column("MEANING", [parts[0] for parts in folded])])
    text = [head]
    for row, parts in zip(rows, folded, strict=True):
        text += [row, *[" " * taken + part for part in parts[1:]]]
    return text


def _columns(settings: Sequence[Setting], most: int | None, *, has_colours: bool) -> list[Column]:
    bold = ["bold"] * len(settings) if has_colours else None
    hues = [None if setting.origin == "default" else "green" for setting in settings] if has_colours else None
    values, defaults = ([shown(setting, which) for setting in settings] for which in ("value", "default"))
    if most is not None:
        values, defaults = ([cut(text, most) for text in texts] for texts in (values, defaults))
    return [
        Column("NAME", [setting.name for setting in settings], styles=bold),
        Column("VALUE", values, least=LEAST_VALUE, styles=hues),
        Column("DEFAULT", defaults, least=LEAST_VALUE),
        Column("ORIGIN", [setting.origin for setting in settings], styles=hues),
    ]


def _taken(columns: list[Column]) -> int:
    return sum(column.width() + len(GAP) for column in columns)


def _with_meanings_below(columns: list[Column], meanings: list[str], width: int, *, has_colours: bool) -> list[str]:
    head, *rows = lines(columns, width)
    text = [head]
    for row, meaning in zip(rows, meanings, strict=True):
        text.append(row)
        text += [
            INDENT + (paint(line, "dim") if has_colours else line)
            for line in wrapped(meaning, max(1, width - len(INDENT)))
        ]
    return text


def description(setting: Setting, *, width: int | None, has_colours: bool) -> list[str]:
    pairs = [("value", shown(setting, "value")), ("default", shown(setting, "default")), ("origin", setting.origin)]
    if setting.choices:
        pairs.append(("choices", ", ".join(setting.choices)))
    wide = max(len(name) for name, _ in pairs)
    meaning = safe(setting.meaning)
    text = [paint(setting.name, "bold") if has_colours else setting.name]
    text += [f"  {line}" for line in (wrapped(meaning, max(20, width - 2)) if width else [meaning])]
    for name, value in pairs:
        label = name.ljust(wide)
        text.append(f"  {paint(label, 'dim') if has_colours else label}  {safe(str(value))}")
    return text


def shown(setting: Setting, which: str) -> str:
    """As typed: 30m instead of 1800."""
    value = getattr(setting, which)
    if value is None or value in ("", []):
        return "-"
    if isinstance(value, list):
        return ",".join(map(str, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if setting.kind != "seconds" or not text.removesuffix(".0").isdecimal():
        return text
    return typed_duration(float(text))
