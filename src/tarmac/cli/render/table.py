"""Columns with titles, fitted to a width: texts share the room there is, and columns of figures are whole or left out.

Works column by column, so that a queue of thousands is listed in milliseconds.
"""

from __future__ import annotations

from tarmac.cli.render.text import cells, cut, padded, safe
from tarmac.cli.term.terminal import paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GAP = "  "
LEAST_LAST, LEAST = 12, 4  # of the last column, and of it alone behind figures that nothing can be taken from
WIDEST = 60  # of a text that other columns follow: one long name must not pad every row


class Column:
    """`least`: it may be cut down to this width; None: it is never cut. `styles`: one per value, or none."""

    __slots__ = ("is_right", "least", "styles", "title", "values")

    def __init__(
        self,
        title: str,
        values: Iterable[str],
        *,
        styles: Sequence[str | None] | None = None,
        is_right: bool = False,
        least: int | None = None,
    ) -> None:
        self.title = title
        self.values = [title, *_safe(list(values))]
        self.styles = None if styles is None else ["bold", *styles]
        self.is_right = is_right
        self.least = least

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


def lines(columns: Sequence[Column], width: int | None = None, give_way: Sequence[str] = ()) -> list[str]:
    """The table, titles first. If the columns do not fit, those in `give_way` are left out, in this order."""
    columns, widths = fitted(columns, width, give_way)
    last = len(columns) - 1
    shown = [column.shown(widths[index], is_last=index == last) for index, column in enumerate(columns)]
    line = GAP.join([form for form, _ in shown])
    return [(line % row).rstrip() for row in zip(*[values for _, values in shown], strict=True)]


def fitted(
    columns: Sequence[Column], width: int | None, give_way: Sequence[str] = ()
) -> tuple[Sequence[Column], list[int]]:
    """The columns that fit, and their widths. On a terminal that is too narrow for the rest, the first one remains."""
    natural = {column.title: column.width() for column in columns}
    for column in columns[:-1]:
        if column.least is not None:
            natural[column.title] = min(natural[column.title], WIDEST)
    if width is None:
        return columns, list(natural.values())
    columns = _within(columns, natural, width, give_way)
    while len(columns) > 1 and _needed(columns, natural, LEAST) > width:
        columns = columns[:-1]
    fixed = [column for column in columns[:-1] if column.least is None]
    texts = [column for column in columns if column not in fixed]
    room = width - sum(natural[column.title] for column in fixed) - len(GAP) * (len(columns) - 1)
    shares = _shared(room, {column.title: natural[column.title] for column in texts})
    return columns, [shares.get(column.title, natural[column.title]) for column in columns]


def _within(
    columns: Sequence[Column], natural: dict[str, int], width: int, give_way: Sequence[str]
) -> Sequence[Column]:
    """Leave out columns until the rest fits; then put back those that fit after all, the most useful ones first."""
    left_out: list[str] = []
    for title in give_way:
        if _needed(_without(columns, left_out), natural) <= width:
            break
        left_out.append(title)
    for title in reversed(left_out):
        others = [other for other in left_out if other != title]
        if _needed(_without(columns, others), natural) <= width:
            left_out = others
    return _without(columns, left_out)


def _without(columns: Sequence[Column], titles: Sequence[str]) -> Sequence[Column]:
    return [column for column in columns if column.title not in titles] if titles else columns


def _needed(columns: Sequence[Column], natural: dict[str, int], least_last: int = LEAST_LAST) -> int:
    """The width with every text cut as far as it may be."""
    least = [natural[one.title] if one.least is None else min(natural[one.title], one.least) for one in columns]
    if columns[-1].least is None:
        least[-1] = min(least[-1], least_last)
    return sum(least) + len(GAP) * (len(columns) - 1)


def _shared(room: int, wanted: dict[str, int]) -> dict[str, int]:
    """Each text gets what it wants or an equal share; what a short one leaves goes to the others."""
    shares: dict[str, int] = {}
    for count, title in enumerate(sorted(wanted, key=wanted.__getitem__)):
        share = min(wanted[title], max(1, room // (len(wanted) - count)))
        shares[title] = share
        room -= share
    return shares


def _safe(values: list[str]) -> list[str]:
    return values if all(map(str.isprintable, values)) else [safe(value) for value in values]
