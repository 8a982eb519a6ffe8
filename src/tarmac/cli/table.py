"""Rows under titles, fitted to a width: wide columns give way, the last one most."""

from __future__ import annotations

from tarmac.cli.terminal import paint
from tarmac.cli.text import cells, cut, padded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "  "
LEAST, LEAST_LAST = 4, 12


class Column:
    """`most`: how wide it may be when space is short; None keeps it whole."""

    __slots__ = ("is_right", "most", "title")

    def __init__(self, title: str, *, is_right: bool = False, most: int | None = None) -> None:
        self.title = title
        self.is_right = is_right
        self.most = most


def lines(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    styles: Sequence[Sequence[str | None]] | None = None,
    width: int | None = None,
) -> list[str]:
    """The table, titles first. `styles` (one per cell) are given where there are colours."""
    titles = [column.title for column in columns]
    widths = _fitted(columns, _widths(titles, rows), width)
    head = _line(columns, titles, widths, ["bold"] * len(columns) if styles is not None else None)
    if styles is None:
        return [head, *[_line(columns, row, widths, None) for row in rows]]
    return [head, *[_line(columns, row, widths, style) for row, style in zip(rows, styles, strict=True)]]


def _widths(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    widths = [len(title) for title in titles]
    for column in range(len(titles)):
        values = [row[column] for row in rows]
        plain = all(map(str.isascii, values))
        widths[column] = max(widths[column], max(map(len if plain else cells, values), default=0))
    return widths


def _fitted(columns: Sequence[Column], widths: list[int], width: int | None) -> list[int]:
    """First the columns that may give way do, then the last one, and on a very narrow terminal both once more."""
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


def _line(
    columns: Sequence[Column], row: Sequence[str], widths: Sequence[int], styles: Sequence[str | None] | None
) -> str:
    parts = []
    last = len(row) - 1
    for index, text in enumerate(row):
        if len(text) > widths[index] or not text.isascii():
            text = cut(text, widths[index])
        if index < last or columns[index].is_right:
            text = padded(text, widths[index], right=columns[index].is_right)
        parts.append(text if styles is None or text.isspace() else paint(text, styles[index]))
    return GAP.join(parts).rstrip()
