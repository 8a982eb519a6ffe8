"""The waiting jobs, kept by class so that a scheduling pass never walks the whole queue.

A class is one owner's jobs that ask for the same and are under the same limits. When its head does not fit, none of
it does. Jobs that wait for something else than GPUs (another job, their time, a person) are not in here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job, Request
from tarmac.shared.names import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Rank: TypeAlias = tuple[int, float]
Entry: TypeAlias = tuple[Rank, JobId]
ClassKey: TypeAlias = tuple[str, str | None, int, JobId | None, int, Request]
Turn: TypeAlias = tuple[int, int, float, int]  # tier, priority, position, id: an owner's own order

_TIER_RANK = {tier: rank for rank, tier in enumerate(TIERS)}


def class_key(job: Job) -> ClassKey:
    """Time limits count by their magnitude only: jobs that are backfilled alike may stand in one class."""
    spec = job.spec
    magnitude = -1 if spec.time_limit_s is None else int(spec.time_limit_s).bit_length()
    group = None if spec.max_running is None else job.group
    return (spec.owner, spec.project, _TIER_RANK[spec.tier], group, magnitude, spec.request)


def turn_of(job: Job) -> Turn:
    return (_TIER_RANK[job.spec.tier], *job.rank, job.id)


@dataclass(slots=True, eq=False)
class JobClass:
    key: ClassKey
    waiting: dict[JobId, Rank] = field(default_factory=dict)  # rank under which the job waits
    heap: list[Entry] = field(default_factory=list)  # may hold entries that `waiting` no longer confirms
    _turn: Turn | None = None

    @property
    def owner(self) -> str:
        return self.key[0]

    @property
    def request(self) -> Request:
        return self.key[5]

    @property
    def least_limit_s(self) -> int:
        """No job of it has a shorter time limit; 0 where they have none."""
        return 0 if self.key[4] <= 0 else 1 << (self.key[4] - 1)

    def add_many(self, jobs: list[Job]) -> None:
        """A few are pushed, many are heaped anew: neither may cost a lone submit the length of the queue."""
        self._turn = None
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

    def turn(self) -> Turn:
        if self._turn is None:
            entry = self.head()
            assert entry is not None, "a class in the queue has a head"
            (priority, position), job = entry
            self._turn = (self.key[2], priority, position, job)
        return self._turn

    def remove(self, job: JobId) -> None:
        self._turn = None
        del self.waiting[job]


@dataclass(slots=True, eq=False)
class Classes:
    """Several classes of one owner. Which goes first is found once, until one of them changes."""

    owner: str
    classes: dict[ClassKey, JobClass] = field(default_factory=dict)
    _first: JobClass | None = None

    def first(self) -> JobClass:
        if self._first is None:
            self._first = min(self.classes.values(), key=JobClass.turn)
        return self._first

    def turn(self) -> Turn:
        return self.first().turn()

    def changed(self) -> None:
        self._first = None


@dataclass(slots=True)
class Queue:
    classes: dict[ClassKey, JobClass] = field(default_factory=dict)
    owners: dict[str, Classes] = field(default_factory=dict)
    requests: dict[Request, dict[str, Classes]] = field(default_factory=dict)  # and again by owner

    def __len__(self) -> int:
        return sum(len(klass.waiting) for klass in self.classes.values())

    def add_many(self, jobs: Iterable[Job]) -> None:
        grown: dict[ClassKey, list[Job]] = {}
        for job in jobs:
            grown.setdefault(class_key(job), []).append(job)
        for key, together in grown.items():
            self._class_of(key).add_many(together)
            self._changed(key)

    def remove(self, job: Job) -> None:
        key = class_key(job)
        klass = self.classes[key]
        klass.remove(job.id)
        self._changed(key)
        if not klass.waiting:
            self._drop(key)

    def class_of(self, job: Job) -> JobClass | None:
        return self.classes.get(class_key(job))

    def in_order(self) -> Iterator[JobId]:
        """Every waiting job by rank. For people; a scheduling pass does not use it."""
        entries = [(rank, job) for klass in self.classes.values() for job, rank in klass.waiting.items()]
        return (job for _, job in sorted(entries))

    def _class_of(self, key: ClassKey) -> JobClass:
        klass = self.classes.get(key)
        if klass is None:
            klass = self.classes[key] = JobClass(key=key)
            owner, request = key[0], key[5]
            self.owners.setdefault(owner, Classes(owner)).classes[key] = klass
            self.requests.setdefault(request, {}).setdefault(owner, Classes(owner)).classes[key] = klass
        return klass

    def _changed(self, key: ClassKey) -> None:
        self.owners[key[0]].changed()
        self.requests[key[5]][key[0]].changed()

    def _drop(self, key: ClassKey) -> None:
        owner, request = key[0], key[5]
        del self.classes[key]
        _drop(self.owners, owner, key)
        _drop(self.requests[request], owner, key)
        if not self.requests[request]:
            del self.requests[request]


def _drop(together: dict[str, Classes], owner: str, key: ClassKey) -> None:
    del together[owner].classes[key]
    if not together[owner].classes:
        del together[owner]
