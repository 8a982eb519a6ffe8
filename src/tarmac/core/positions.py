"""Positions of jobs that are moved. A position other than the job's id marks the job as moved (`Job.is_moved`)."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def new_position(job: Job, low: float, high: float) -> float | None:
    """A position between two others that marks the job as moved. None if they are too close.

    A job that is already there hardly changes its position: under fifo it must not pass jobs of other owners.
    """
    own = job.position
    if low < own < high:
        position = own if job.is_moved else (own + min(high, own + 1)) / 2
    elif low > -inf and high < inf:
        position = (low + high) / 2
    else:
        position = high - 1 if low == -inf else low + 1
    if position == job.id:
        position = (position + min(high, position + 1)) / 2
    return position if low < position < high and position != job.id else None


def spread(state: State, line: list[Job]) -> None:
    """Space out the moved jobs of a line that are too close for another to fit between. The others stay in place."""
    low = -inf
    between: list[Job] = []
    for job in line:
        if job.is_moved:
            between.append(job)
        else:
            _space_out(state, between, low, job.position)
            low, between = job.position, []
    _space_out(state, between, low, inf)


def _space_out(state: State, jobs: list[Job], low: float, high: float) -> None:
    """Keeps the first position where nothing bounds it."""
    if not jobs:
        return
    count = len(jobs)
    if low == -inf:
        low = min(jobs[0].position, high - 1) - 1
    step = 1.0 if high == inf else (high - low) / (count + 1)
    for number, job in enumerate(jobs, 1):
        position = low + step * number
        state.put(job, position if position != job.id else position - step / 4)
