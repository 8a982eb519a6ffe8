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

    def add_many(self, jobs: list[Job]) -> None:
        """A few are pushed, many are heaped anew: neither may cost a lone submit the length of the queue."""
        self.waiting.update((job.id, job.rank) for job in jobs)
        if len(jobs) * 16 < len(self.heap):
            for job in jobs:
                heappush(self.heap, (job.rank, job.id))
        else:
            self.heap += [(job.rank, job.id) for job in jobs]
            heapify(self.heap)

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

    def add_many(self, jobs: Iterable[Job]) -> None:
        grown: dict[ClassKey, list[Job]] = {}
        for job in jobs:
            grown.setdefault((job.spec.owner, job.spec.request), []).append(job)
        for together in grown.values():
            self._class_of(together[0]).add_many(together)

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
