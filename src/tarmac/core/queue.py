"""The waiting jobs, kept by class so that a scheduling pass never walks the whole queue.

A class is one owner's jobs with one request. When its head does not fit, none of it fits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model import Job, JobId, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ClassKey: TypeAlias = tuple[str, Request]
Entry: TypeAlias = tuple[tuple[int, int], JobId]


@dataclass(slots=True)
class JobClass:
    owner: str
    request: Request
    waiting: dict[JobId, tuple[int, int]] = field(default_factory=dict)  # rank under which the job waits
    heap: list[Entry] = field(default_factory=list)  # may hold entries that `waiting` no longer confirms

    def head(self) -> Entry | None:
        """The first waiting entry; what left the class since is dropped on the way."""
        while self.heap and self.waiting.get(self.heap[0][1]) != self.heap[0][0]:
            heappop(self.heap)
        return self.heap[0] if self.heap else None


@dataclass(slots=True)
class Queue:
    classes: dict[ClassKey, JobClass] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(klass.waiting) for klass in self.classes.values())

    def __contains__(self, job: Job) -> bool:
        klass = self.classes.get((job.spec.owner, job.spec.request))
        return klass is not None and job.id in klass.waiting

    def add(self, job: Job) -> None:
        klass = self._class_of(job)
        klass.waiting[job.id] = job.rank
        heappush(klass.heap, (job.rank, job.id))

    def add_many(self, jobs: Iterable[Job]) -> None:
        grown: dict[ClassKey, JobClass] = {}
        for job in jobs:
            klass = self._class_of(job)
            klass.waiting[job.id] = job.rank
            klass.heap.append((job.rank, job.id))
            grown[klass.owner, klass.request] = klass
        for klass in grown.values():
            heapify(klass.heap)

    def remove(self, job: Job) -> None:
        key = (job.spec.owner, job.spec.request)
        klass = self.classes[key]
        del klass.waiting[job.id]
        if not klass.waiting:
            del self.classes[key]

    def in_order(self) -> Iterator[JobId]:
        """Every waiting job by rank. For people; a scheduling pass does not use it."""
        entries = [(rank, job) for klass in self.classes.values() for job, rank in klass.waiting.items()]
        return (job for _, job in sorted(entries))

    def ahead_of(self, job: Job) -> int:
        rank = (job.rank, job.id)
        return sum((r, j) < rank for klass in self.classes.values() for j, r in klass.waiting.items())

    def _class_of(self, job: Job) -> JobClass:
        key = (job.spec.owner, job.spec.request)
        klass = self.classes.get(key)
        if klass is None:
            klass = self.classes[key] = JobClass(owner=key[0], request=key[1])
        return klass
