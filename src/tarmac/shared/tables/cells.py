"""Cells of comma-separated values that neither change a terminal nor run in a spreadsheet."""

from __future__ import annotations

from typing import Iterable, Sequence

from tarmac.shared.text import safe

FORMULA = {"=", "+", "-", "@", "\t", "\r"}  # how cells begin that a spreadsheet runs


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """A line for each row. None is an empty cell.

    Control characters are escaped. A text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    return f"'{safe(value)}" if value[:1] in FORMULA and not _is_number(value) else safe(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not text[:1].isspace()
