"""A report of GPU time as comma-separated values."""

from __future__ import annotations

from typing import Any, Mapping

from tarmac.shared.tables.cells import csv_text

SUMS = ("jobs", "held_s", "pause_s", "measured_s", "used_s", "utilization", "energy_j", "peak_gpu_memory_bytes")


def report_csv(report: Mapping[str, Any]) -> str:
    """One line per row; foreign processes have the kind `foreign` and no name."""
    more = ("node", "uuid") if report["by"] == "gpu" else ()
    rows = [["kind", report["by"], *more, *SUMS]]
    rows += [["job", *(row[name] for name in ("name", *more, *SUMS))] for row in report["rows"]]
    if report["foreign"] is not None:
        rows.append(["foreign", "", *("" for _ in more), *(report["foreign"][name] for name in SUMS)])
    return csv_text(rows)
