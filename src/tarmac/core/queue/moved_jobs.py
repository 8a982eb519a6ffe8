"""The waiting jobs that were moved. Whatever their order, other jobs of the owner stay before or behind them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model.ids import JobId
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.core.model.job import Job

Level: TypeAlias = tuple[str, str, int]  # owner, tier and priority: moves count among the jobs of one level
Spot: TypeAlias = tuple[float, JobId]  # position and job

FRONT: Spot = (-inf, JobId(0))


@dataclass(slots=True)
class MovedJobs:
    spots: dict[Level, list[Spot]] = field(default_factory=dict)  # in order

    def add_many(self, jobs: Iterable[Job]) -> None:
        moved = [job for job in jobs if job.is_moved]
        for job in moved:
            self.spots.setdefault(_level(job), []).append((job.position, job.id))
        for level in set(map(_level, moved)):
            self.spots[level].sort()

    def remove(self, job: Job) -> None:
        if job.is_moved:
            level = _level(job)
            spots = self.spots[level]
            del spots[bisect_left(spots, (job.position, job.id))]
            if not spots:
                del self.spots[level]

    def last_up_to(self, job: Job) -> Spot:
        """The last moved job that does not go behind this one; the job itself if it was moved."""
        spot = (job.position, job.id)
        if job.is_moved:
            return spot
        spots: Sequence[Spot] = self.spots.get(_level(job), ()) if self.spots else ()
        place = bisect_left(spots, spot)
        return spots[place - 1] if place else FRONT


def _level(job: Job) -> Level:
    return (job.spec.owner, job.spec.tier, job.spec.priority)
