"""A figure: the measurement, its ratio to a floor, its limit and its aim; and the table of figures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    what: str
    measured: str  # for display: 21.3 ms
    ratio: float
    unit: str  # of the ratio: P, D, ×, s …
    must: float
    aim: float
    more_is_better: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.reaches(self.aim):
            return "AIM"
        return "OK" if self.reaches(self.must) else "MISS"

    def reaches(self, limit: float) -> bool:
        return self.ratio >= limit if self.more_is_better else self.ratio <= limit


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def table(figures: Iterable[Figure]) -> Iterator[str]:
    rows = [("what", "measured", "ratio", "must", "aim", "")]
    for figure in figures:
        sign = "≥" if figure.more_is_better else "≤"
        limits = (f"{sign} {figure.must:g} {figure.unit}", f"{sign} {figure.aim:g} {figure.unit}")
        ratio = f"{figure.ratio:.2f} {figure.unit}"
        rows.append((figure.what, figure.measured, ratio, *limits, f"{figure.verdict} {figure.note}".strip()))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
