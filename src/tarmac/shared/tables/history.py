"""Ended jobs as comma-separated values."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping

from tarmac.shared.tables.cells import csv_text
from tarmac.shared.text import shown_command

COLUMNS = (
    "id", "state", "reason", "exit_code", "signal", "owner", "name", "project", "tags", "submitted_at", "started_at",
    "ended_at", "elapsed_s", "command",
)  # fmt: skip
TITLES = ",".join(COLUMNS) + "\n"


def history_csv(jobs: Iterable[Mapping[str, Any]]) -> str:
    """One line per job, without the titles."""
    return csv_text(map(_row, jobs))


def _row(job: Mapping[str, Any]) -> List[Any]:
    texts = {"tags": " ".join(job.get("tags") or ()), "command": shown_command(job.get("command") or ())}
    return [texts[name] if name in texts else job.get(name) for name in COLUMNS]
