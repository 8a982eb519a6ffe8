"""A report as a table with bars, at any width, and as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tarmac.cli.render.admin.report import LEAST_BAR, table
from tarmac.cli.render.text import cells
from tarmac.shared.tables.report import report_csv

H = 3600.0
G = 2**30


def sums(held_h: float, used_h: float | None = 0.0, **more: Any) -> dict[str, Any]:
    measured = 0.0 if used_h is None else held_h * H
    return {
        "jobs": 3, "held_s": held_h * H, "pause_s": 0.0, "measured_s": measured, "used_s": (used_h or 0.0) * H,
        "utilization": None if used_h is None or not held_h else 100 * used_h / held_h, "energy_j": None,
        "peak_gpu_memory_bytes": None, **more,
    }  # fmt: skip


def a_row(name: str | None, *figures: float | None, **more: Any) -> dict[str, Any]:
    return {"name": name, "node": None, "uuid": None, **sums(*figures, **more)}  # type: ignore[arg-type]


def a_report(*rows: dict[str, Any], by: str = "owner", foreign: Any = None, total: Any = None) -> Any:
    total = total or sums(sum(row["held_s"] for row in rows) / H)
    return {"by": by, "since": "a", "until": "b", "rows": list(rows), "foreign": foreign, "total": total}


def shown(report: Any, width: int | None = None) -> list[str]:
    return table(report, width=width, has_colours=False)


def test_without_a_terminal_it_is_a_plain_table() -> None:
    lines = shown(a_report(a_row("ann", 100.0, 40.0), a_row("bob", 2.0, None), foreign=sums(1.0, 0.5, jobs=0)))
    assert lines == [
        "OWNER      JOBS   HELD  USED  USE",
        "ann           3  100.0  40.0  40%",
        "bob           3    2.0     -    -",
        "(foreign)     -    1.0   0.5  50%",
        "total         3  102.0   0.0   0%",
    ]


def test_bars_show_what_was_held_and_full_what_was_used() -> None:
    lines = shown(
        a_report(a_row("ann", 10.0, 5.0), a_row("bob", 5.0, 5.0), a_row("eve", 0.001, None), a_row("x", 0.0, None)), 200
    )
    bars = [line.split("  ")[-1] for line in lines[1:]]
    assert bars[0] == "█" * 30 + "░" * 30
    assert bars[1] == "█" * 30
    assert bars[2] == "░", "a little is not nothing"
    assert not {"█", "░"} & set("".join(bars[3:])), "nothing, and the total"


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
@pytest.mark.parametrize("by", ["owner", "day", "gpu", "project"])
def test_it_fits_the_terminal(width: int, by: str) -> None:
    more = {"energy_j": 9e8, "peak_gpu_memory_bytes": 23 * G, "pause_s": H}
    rows = [
        a_row(name, 1234.5, 600.0, **more)
        for name in ("a-very-long-name-of-a-user@example.org", "陳大文", "\x1b[2J", None)
    ]
    lines = shown(a_report(*rows, by=by, foreign=sums(1.0, 1.0), total=sums(9999.0, 99.0, **more)), width)
    assert max(map(cells, lines)) <= width
    assert not any("\x1b" in line for line in lines)
    assert "HELD" in lines[0]
    if width >= 40:
        assert len(lines[1].split("  ")[-1]) >= LEAST_BAR


def test_days_are_never_cut() -> None:
    rows = [a_row("2026-11-16", 1234.5, 600.0, energy_j=9e8, peak_gpu_memory_bytes=G)]
    assert shown(a_report(*rows, by="day"), 60)[1].startswith("2026-11-16 ")


def test_columns_of_a_terminal_line_up_behind_wide_characters() -> None:
    lines = shown(a_report(a_row("陳大文", 10.0, 5.0), a_row("ann", 10.0, 5.0)), 80)
    assert cells(lines[1].partition("█")[0]) == cells(lines[2].partition("█")[0])


def test_columns_without_figures_are_left_out() -> None:
    titles = shown(a_report(a_row("ann", 1.0, 0.5)))[0]
    assert not {"ENERGY", "PEAK", "PAUSED"} & set(titles.split())
    full = shown(a_report(a_row("ann", 1.0, 0.5, energy_j=7200.0, peak_gpu_memory_bytes=G, pause_s=H / 2)))
    assert full[0].split() == ["OWNER", "JOBS", "HELD", "USED", "USE", "PAUSED", "ENERGY", "PEAK"]
    assert full[1].split() == ["ann", "3", "1.00", "0.50", "50%", "0.50", "2.0", "Wh", "1.0G"]


def test_little_time_is_not_shown_as_none() -> None:
    assert shown(a_report(a_row("ann", 0.001, None)))[1].split() == ["ann", "3", "<0.01", "-", "-"]
    assert shown(a_report(a_row("ann", 0.0, None)))[1].split() == ["ann", "3", "0.00", "-", "-"]


def test_rows_without_a_name_say_what_they_are() -> None:
    assert shown(a_report(a_row(None, 1.0), by="project"))[1].startswith("(no project)")
    assert shown(a_report(a_row(None, 1.0), by="gpu"))[1].startswith("(unknown)")


def test_csv_can_be_read_back() -> None:
    report = a_report(
        a_row('a,"b"', 1.0, 0.5, energy_j=1.5), a_row(None, 2.0, None), foreign=sums(3.0, jobs=0), by="project"
    )
    rows = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert [(row["kind"], row["project"], row["held_s"]) for row in rows] == [
        ("job", 'a,"b"', "3600.0"),
        ("job", "", "7200.0"),
        ("foreign", "", "10800.0"),
    ]
    assert [row["energy_j"] for row in rows] == ["1.5", "", ""]


def test_csv_by_gpu_names_node_and_uuid() -> None:
    row = {**a_row("box:0", 1.0), "node": "box", "uuid": "GPU-0"}
    (found,) = csv.DictReader(io.StringIO(report_csv(a_report(row, by="gpu"))))
    assert (found["gpu"], found["node"], found["uuid"]) == ("box:0", "box", "GPU-0")


@pytest.mark.parametrize(
    ("name", "cell"),
    [("=cmd()", "'=cmd()"), ("@a", "'@a"), ("-1+1", "'-1+1"), ("p\x1b[31m", "p\\x1b[31m"), ("a-b", "a-b")],
)
def test_csv_neither_colours_a_terminal_nor_runs_in_a_spreadsheet(name: str, cell: str) -> None:
    (found,) = csv.DictReader(io.StringIO(report_csv(a_report(a_row(name, 1.0), by="project"))))
    assert found["project"] == cell
