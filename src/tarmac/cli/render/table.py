"""Columns with titles, fitted to a width: wide columns shrink, the last one most.

Works column by column, so that a queue of thousands is listed in milliseconds.
"""

from __future__ import annotations

from tarmac.cli.render.text import cells, cut, padded, safe
from tarmac.cli.term.terminal import paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GAP = "  "
LEAST, LEAST_LAST = 4, 12


class Column:
    """`most`: its width when space is short; None: never shrink. `styles`: one per value, or none."""

    __slots__ = ("is_right", "most", "styles", "title", "values")

    def __init__(
        self,
        title: str,
        values: Iterable[str],
        *,
        styles: Sequence[str | None] | None = None,
        is_right: bool = False,
        most: int | None = None,
    ) -> None:
        self.title = title
        self.values = [title, *_safe(list(values))]
        self.styles = None if styles is None else ["bold", *styles]
        self.is_right = is_right
        self.most = most

    def width(self) -> int:
        return max(map(len if self._is_plain() else cells, self.values))

    def shown(self, width: int, *, is_last: bool) -> tuple[str, list[str]]:
        """The values cut to fit, and a format that pads them; a format is the fastest way to pad plain text."""
        sign = "" if self.is_right else "-"
        pads = self.is_right or not is_last
        if self._is_plain() and self.styles is None:
            values = [value if len(value) <= width else f"{value[: width - 1]}…" for value in self.values]
            return f"%{sign}{width}s" if pads else "%s", values
        values = [cut(value, width) for value in self.values]
        if pads:
            values = [padded(value, width, right=self.is_right) for value in values]
        if self.styles is not None:
            styled = zip(values, self.styles, strict=True)
            values = [value if value.isspace() else paint(value, style) for value, style in styled]
        return "%s", values

    def _is_plain(self) -> bool:
        return all(map(str.isascii, self.values))


def lines(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The table, titles first."""
    widths = _fitted(columns, [column.width() for column in columns], width)
    last = len(columns) - 1
    shown = [column.shown(widths[index], is_last=index == last) for index, column in enumerate(columns)]
    line = GAP.join([form for form, _ in shown])
    return [(line % row).rstrip() for row in zip(*[values for _, values in shown], strict=True)]


def _safe(values: list[str]) -> list[str]:
    return values if all(map(str.isprintable, values)) else [safe(value) for value in values]


def _fitted(columns: Sequence[Column], widths: list[int], width: int | None) -> list[int]:
    """Shrink the columns that have a `most`, then the last one, and on a very narrow terminal both again."""
    if width is None:
        return widths
    for least_last, least in ((LEAST_LAST, None), (1, LEAST)):
        for index, column in enumerate(columns[:-1]):
            if column.most is not None:
                _narrow(widths, index, column.most if least is None else least, width)
        _narrow(widths, -1, least_last, width)
    return widths


def _narrow(widths: list[int], index: int, least: int, width: int) -> None:
    over = sum(widths) + len(GAP) * (len(widths) - 1) - width
    if over > 0:
        widths[index] = min(widths[index], max(least, widths[index] - over))
