"""Moves several waiting jobs to one place, in their order, as moves of single jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.lines import line_key, lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tarmac.core.model.ids import JobId
    from tarmac.core.state import State


def moves(state: State, jobs: Collection[JobId], position: int) -> Iterator[tuple[JobId, int]]:
    """Each job and its place, from 1, in the order in which they have to be moved. Each owner and tier has a line."""
    chosen = {job for job in jobs if job in state.jobs}
    for line in lines(state, {line_key(state.jobs[job]) for job in chosen}).values():
        yield from _of_line(line, chosen, position, are_all_moved=state.rules.order != "submitted")


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
