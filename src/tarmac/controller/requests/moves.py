"""Moves several waiting jobs to one place, in their order, as moves of single jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.status import Queued
from tarmac.core.queue import turn_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def moves(state: State, jobs: Collection[JobId], position: int) -> Iterator[tuple[JobId, int]]:
    """Each job and its place, from 1, in the order in which they have to be moved. Each owner and tier has a line."""
    chosen = {job for job in jobs if job in state.jobs}
    lines: dict[tuple[str, str], list[Job]] = {_line_of(state.jobs[job]): [] for job in chosen}
    for job in state.jobs.values():
        if isinstance(job.status, Queued) and (line := lines.get(_line_of(job))) is not None:
            line.append(job)
    for line in lines.values():
        by_position = [job.id for job in sorted(line, key=turn_of)]
        yield from _of_line(by_position, chosen, position, are_all_moved=state.rules.order != "submitted")


def _line_of(job: Job) -> tuple[str, str]:
    return job.spec.owner, job.spec.tier


def _of_line(
    line: list[JobId], chosen: set[JobId], position: int, *, are_all_moved: bool = False
) -> Iterator[tuple[JobId, int]]:
    """A move shifts the jobs between its two places, so the last goes back first, and the first comes forward first.

    With `are_all_moved`, jobs that have their place already are moved there, too: it no longer depends on their length.
    """
    block = [(before, job) for before, job in enumerate(line) if job in chosen]
    first = min(position - 1, len(line) - len(block))
    places = [(job, before, after) for after, (before, job) in enumerate(block, first)]
    yield from [(job, after + 1) for job, before, after in reversed(places) if before < after]
    yield from [(job, after + 1) for job, before, after in places if before > after]
    if are_all_moved:
        yield from [(job, after + 1) for job, before, after in places if before == after]
