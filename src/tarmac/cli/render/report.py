"""A report of GPU time: a table with a bar for each row, or CSV."""

from __future__ import annotations

from tarmac.cli.render.job import energy
from tarmac.cli.render.table import Column, lines
from tarmac.cli.term.terminal import paint
from tarmac.shared.units import HOUR_S, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tarmac.client.records import Report, ReportSums

SUMS = ("jobs", "held_s", "pause_s", "measured_s", "used_s", "utilization", "energy_j", "peak_gpu_memory_bytes")
NONE = {"project": "(no project)", "gpu": "(unknown)", "owner": "(unknown)"}
FOREIGN, TOTAL = "foreign processes", "total"
LEAST_BAR, WIDEST_BAR = 8, 60
GAP = "  "


def table(report: Report, *, width: int | None, has_colours: bool) -> list[str]:
    """The rows, foreign processes and the total. `width`: of the terminal, where bars are drawn; None: no terminal."""
    by, rows = report["by"], report["rows"]
    shown: list[ReportSums] = [*rows]
    names = [row["name"] or NONE.get(by, "") for row in rows]
    if report["foreign"] is not None:
        names.append(FOREIGN)
        shown.append(report["foreign"])
    text = lines(_columns(by, [*names, TOTAL], [*shown, report["total"]]), width, ("PEAK", "ENERGY", "JOBS", "PAUSED"))
    if width is not None:
        _add_bars(text, shown, min(WIDEST_BAR, width - max(map(len, text)) - len(GAP)))
    return [paint(text[0], "bold"), *text[1:]] if has_colours else text


def _columns(by: str, names: Sequence[str], rows: Sequence[ReportSums]) -> list[Column]:
    columns = [Column(by.upper(), names, least=8)]
    if by != "gpu":  # a job may use several
        columns.append(Column("JOBS", [f"{row['jobs']:,}" if row["jobs"] else "-" for row in rows], is_right=True))
    columns += [
        Column("HELD", [hours(row["held_s"]) for row in rows], is_right=True),
        Column("USED", [hours(row["used_s"]) if row["measured_s"] else "-" for row in rows], is_right=True),
        Column("USE", [_percent(row["utilization"]) for row in rows], is_right=True),
    ]
    if any(row["pause_s"] for row in rows):
        columns.append(
            Column("PAUSED", [hours(row["pause_s"]) if row["pause_s"] else "-" for row in rows], is_right=True)
        )
    if any(row["energy_j"] for row in rows):
        columns.append(
            Column("ENERGY", [energy(row["energy_j"]) if row["energy_j"] else "-" for row in rows], is_right=True)
        )
    if any(row["peak_gpu_memory_bytes"] for row in rows):
        columns.append(Column("PEAK", [size(row["peak_gpu_memory_bytes"], "-") for row in rows], is_right=True))
    return columns


def _add_bars(text: list[str], rows: Sequence[ReportSums], width: int) -> None:
    """Behind each row but the total: what was held, and full the part of it that was used."""
    longest = max((row["held_s"] for row in rows), default=0.0)
    if width < LEAST_BAR or not longest:
        return
    wide = max(map(len, text))
    for number, row in enumerate(rows, 1):
        held = round(width * row["held_s"] / longest)
        used = min(held, round(width * row["used_s"] / longest))
        text[number] = f"{text[number].ljust(wide)}{GAP}{'█' * used}{'░' * (held - used)}".rstrip()


def hours(seconds: float) -> str:
    """GPU-hours: 0.02, 3.1, 1,250."""
    number = seconds / HOUR_S
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def _percent(utilization: float | None) -> str:
    return "-" if utilization is None else f"{utilization:.0f}%"


def csv_text(report: Report) -> str:
    """One line per row; foreign processes have the kind `foreign` and no name."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    more = ("node", "uuid") if report["by"] == "gpu" else ()
    writer.writerow(("kind", report["by"], *more, *SUMS))
    for row in report["rows"]:
        writer.writerow(("job", *_values(row, ("name", *more, *SUMS))))
    if report["foreign"] is not None:
        writer.writerow(("foreign", "", *("" for _ in more), *_values(report["foreign"], SUMS)))
    return text.getvalue()


def _values(row: Any, names: Sequence[str]) -> list[object]:
    return ["" if row[name] is None else row[name] for name in names]
