"""Processes that Tarmac did not start, in words: who runs what on a GPU, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.catalogue.catalogue import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.model.gpu import ForeignProcess

MOST_SHOWN = 3
LONGEST_COMMAND = 60


def foreign_process_words(processes: Sequence[ForeignProcess], now: float) -> str:
    """With their age at this moment: a GPU that reads the same for hours is not sampled again."""
    shown = say("clauses.several", clauses=[_one(process, now) for process in processes[:MOST_SHOWN]])
    if len(processes) <= MOST_SHOWN:
        return shown
    return say("process.more_foreign", processes=shown, more=len(processes) - MOST_SHOWN)


def _one(process: ForeignProcess, now: float) -> str:
    return say(
        "process.foreign",
        pid=process.pid,
        user=process.user or say("process.unknown_user"),
        job=process.job,
        command=(process.command or "")[:LONGEST_COMMAND],
        age=None if process.started_at is None else _age(max(0, int(now - process.started_at))),
    )


def _age(seconds: int) -> str:
    return say("process.age", seconds=seconds)
