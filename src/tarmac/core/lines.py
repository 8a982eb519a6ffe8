"""The lines of the queue: the waiting jobs of one owner and tier, by position.

They are for people: places, and moves to a place. A line may have a million jobs, so it is made of whole classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.queue.queue import TIER_RANK

if TYPE_CHECKING:
    from collections.abc import Container

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.queue.queue import Entry, JobClass
    from tarmac.core.state import State


MOST_WALKED = 1000  # jobs of each class that are looked up one by one; sorting the line is faster for more


class LineKey(NamedTuple):
    owner: str
    tier: int  # rank of the tier


def line_key(job: Job) -> LineKey:
    return LineKey(job.spec.owner, TIER_RANK[job.spec.tier])


def lines(state: State, only: Container[LineKey] | None = None) -> dict[LineKey, list[JobId]]:
    """All lines, or some of them."""
    entries: dict[LineKey, list[Entry]] = {}
    for klass in state.queue.classes.values():
        key = LineKey(klass.key.owner, klass.key.tier)
        if only is None or key in only:
            entries.setdefault(key, []).extend(zip(klass.waiting.values(), klass.waiting, strict=True))
    for job in state.blocked.values():
        key = line_key(job)
        if only is None or key in only:
            entries.setdefault(key, []).append((job.rank, job.id))
    for line in entries.values():
        line.sort()
    return {key: [job for _, job in line] for key, line in entries.items()}


def others_in_line(state: State, job: Job, most: int | None = None) -> list[JobId]:
    """The first other jobs of the line that a job is in, or would be in."""
    key = line_key(job)
    if most is None or most > MOST_WALKED:
        return [other for other in lines(state, {key}).get(key, ()) if other != job.id][:most]
    entries = [(other.rank, other.id) for other in state.blocked.values() if line_key(other) == key]
    for klass in _classes(state, key):
        entries += [(klass.waiting[other], other) for other in klass.walk_heap(most + 1)]
    return [other for _, other in sorted(entries) if other != job.id][:most]


def place_of(state: State, job: Job) -> int:
    """The place of a waiting job in its line by position, from 1."""
    key, rank = line_key(job), job.rank
    ahead = sum(rank > other.rank for other in state.blocked.values() if line_key(other) == key)
    return 1 + ahead + sum(sum(map(rank.__gt__, klass.waiting.values())) for klass in _classes(state, key))


def _classes(state: State, key: LineKey) -> list[JobClass]:
    own = state.queue.owners.get(key.owner)
    return [] if own is None else [klass for klass in own.classes.values() if klass.key.tier == key.tier]
