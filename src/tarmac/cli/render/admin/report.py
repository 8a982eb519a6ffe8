"""A report of GPU time: a table with a bar for each row."""

from __future__ import annotations

from tarmac.cli.render.job import energy
from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import cells, padded
from tarmac.cli.term.terminal import paint
from tarmac.shared.units import HOUR_S, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import Report, ReportSums

NONE = {"project": "(no project)", "gpu": "(unknown)", "owner": "(unknown)"}
FOREIGN, TOTAL = "(foreign)", "total"
FULL, EMPTY = "█", "░"
LEAST_NAME = 10  # a day
LEAST_BAR, WIDEST_BAR = 12, 60
GAP = "  "


def table(report: Report, *, width: int | None, has_colours: bool) -> list[str]:
    """The rows, foreign processes and the total. `width`: of the terminal, where bars are drawn; None: no terminal."""
    by, rows = report["by"], report["rows"]
    shown: list[ReportSums] = [*rows]
    names = [row["name"] or NONE.get(by, "") for row in rows]
    if report["foreign"] is not None:
        names.append(FOREIGN)
        shown.append(report["foreign"])
    columns = _columns(by, [*names, TOTAL], [*shown, report["total"]])
    text = lines(columns, None if width is None else width - len(GAP) - LEAST_BAR, ("PEAK", "ENERGY", "JOBS", "PAUSED"))
    if width is not None:
        _add_bars(text, shown, width)
    return [paint(text[0], "bold"), *text[1:]] if has_colours else text


def _columns(by: str, names: Sequence[str], rows: Sequence[ReportSums]) -> list[Column]:
    columns = [Column(by.upper(), names, least=LEAST_NAME)]
    if by != "gpu":  # a job may use several
        columns.append(Column("JOBS", [f"{row['jobs']:,}" if row["jobs"] else "-" for row in rows], is_right=True))
    columns += [
        Column("HELD", _hours([row["held_s"] for row in rows]), is_right=True),
        Column("USED", _hours([row["used_s"] if row["measured_s"] else None for row in rows]), is_right=True),
        Column("USE", [_percent(row["utilization"]) for row in rows], is_right=True),
    ]
    if any(row["pause_s"] for row in rows):
        columns.append(Column("PAUSED", _hours([row["pause_s"] or None for row in rows]), is_right=True))
    if any(row["energy_j"] for row in rows):
        columns.append(
            Column("ENERGY", [energy(row["energy_j"]) if row["energy_j"] else "-" for row in rows], is_right=True)
        )
    if any(row["peak_gpu_memory_bytes"] for row in rows):
        columns.append(Column("PEAK", [size(row["peak_gpu_memory_bytes"], "-") for row in rows], is_right=True))
    return columns


def _add_bars(text: list[str], rows: Sequence[ReportSums], width: int) -> None:
    """Behind each row but the total: what was held, and full the part of it that was used."""
    wide = max(map(cells, text))
    room = min(WIDEST_BAR, width - wide - len(GAP))
    longest = max((row["held_s"] for row in rows), default=0.0)
    if room < LEAST_BAR or not longest:
        return
    for number, row in enumerate(rows, 1):
        held = max(round(room * row["held_s"] / longest), row["held_s"] > 0)
        used = min(held, round(room * row["used_s"] / longest))
        text[number] = f"{padded(text[number], wide)}{GAP}{FULL * used}{EMPTY * (held - used)}".rstrip()


def _hours(seconds: Sequence[float | None]) -> list[str]:
    """GPU-hours, all with the same number of decimals: 1,250.0 and 3.2, or 0.02. None is `-`."""
    numbers = [None if one is None else one / HOUR_S for one in seconds]
    decimals = 1 if max((one for one in numbers if one is not None), default=0.0) >= 10 else 2
    least = 0.1**decimals
    return [
        "-" if one is None else f"<{least:.{decimals}f}" if 0 < one < least / 2 else f"{one:,.{decimals}f}"
        for one in numbers
    ]


def _percent(utilization: float | None) -> str:
    return "-" if utilization is None else f"{utilization:.0f}%"
