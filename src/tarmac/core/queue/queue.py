"""The waiting jobs, grouped by class so that a scheduling pass never walks the whole queue.

A class holds one owner's jobs with equal requests and similar lengths. If its first job does not fit, none of them
does. Jobs that wait for something other than GPUs (another job, their begin time, a person) are not in the queue.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job, Request
from tarmac.core.queue.moved_jobs import MovedJobs
from tarmac.core.queue.request_kinds import Kind, KindKey, LeastRequests, kind_key
from tarmac.records import dataclass
from tarmac.shared.names import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from tarmac.core.model.job import JobSpec

Rank: TypeAlias = tuple[int, float]  # priority and position
RunTimes: TypeAlias = "Callable[[JobSpec], float | None]"
Head: TypeAlias = "tuple[Turn, JobClass]"  # the first class of several, and when it is its turn
Entry: TypeAlias = tuple[Rank, JobId]  # plain tuples: a heap of 100,000 of them is built at one submit


class ClassKey(NamedTuple):
    owner: str
    project: str | None
    tier: int  # rank of the tier, 0 goes first
    array: JobId | None  # the job's array, where that limits how many run at once
    limit_magnitude: int  # bits of the time limit in seconds; -1: no limit
    run_magnitude: int  # without a limit, where lengths count: bits of the seconds that namesakes took; -1: unknown
    request: Request


class Turn(NamedTuple):
    """An owner's own order: the lower goes first."""

    tier: int
    priority: int
    position: float
    job: JobId


MAX_FIRST = 64  # jobs of one class that are tried one by one, because their lengths differ
MOST_STALE = 64  # entries of a heap for jobs that have left, beside as many as there are jobs
MOST_MOVED = 16  # jobs that get another class after one event
TIER_RANK = {tier: rank for rank, tier in enumerate(TIERS)}


def class_key(job: Job, run_s: float | None = None) -> ClassKey:
    """Only the magnitude of a length counts, so that jobs with similar ones share a class."""
    spec = job.spec
    limit_magnitude, run_magnitude = _magnitude(spec.time_limit_s), _magnitude(run_s)
    array = None if spec.max_running is None else job.group
    tier = TIER_RANK[spec.tier]
    return ClassKey(spec.owner, spec.project, tier, array, limit_magnitude, run_magnitude, spec.request)


def _magnitude(seconds: float | None) -> int:
    return -1 if seconds is None else int(seconds).bit_length()


def turn_of(job: Job) -> Turn:
    return Turn(TIER_RANK[job.spec.tier], *job.rank, job.id)


class Shortest(NamedTuple):
    """The shortest lengths of some jobs, by what was known about their owner's runs."""

    learned: int
    usual_s: float
    cautious_s: float


@dataclass(slots=True, eq=False)
class JobClass:
    key: ClassKey
    kind: Kind
    waiting: dict[JobId, Rank] = field(default_factory=dict)
    heap: list[Entry] = field(default_factory=list)  # may contain entries that `waiting` no longer confirms
    _turn: Turn | None = None
    _first_jobs: list[JobId] | None = None
    shortest: Shortest | None = None  # of the first jobs; a pass computes it
    first_limits_s: list[float] | None = None  # of the first jobs, where they have limits; a pass looks them up

    @property
    def owner(self) -> str:
        return self.key.owner

    @property
    def request(self) -> Request:
        return self.key.request

    @property
    def has_limits(self) -> bool:
        return self.key.limit_magnitude >= 0

    def add_many(self, jobs: list[Job]) -> None:
        """Push a few jobs, or rebuild the heap for many: a single submit must not cost the length of the queue."""
        self._turn = self._first_jobs = self.shortest = self.first_limits_s = None
        entries: list[Entry] = [(job.rank, job.id) for job in jobs]
        self.waiting.update((number, rank) for rank, number in entries)
        if len(jobs) * 16 < len(self.heap):
            for entry in entries:
                heappush(self.heap, entry)
        else:
            self.heap += entries
            heapify(self.heap)

    def head_job(self) -> JobId:
        """The first waiting job. A class in the queue always has one."""
        return self.turn().job

    def turn(self) -> Turn:
        if self._turn is None:
            (priority, position), job = self._first_entry()
            self._turn = Turn(self.key.tier, priority, position, job)
        return self._turn

    def head(self) -> Head | None:
        return (self.turn(), self) if self.waiting else None

    def _first_entry(self) -> Entry:
        """Drops entries of jobs that have left the class on the way."""
        while True:
            rank, job = self.heap[0]
            if self.waiting.get(job) == rank:
                return rank, job
            heappop(self.heap)

    def turn_of(self, job: JobId) -> Turn:
        return Turn(self.key.tier, *self.waiting[job], job)

    def first_jobs(self) -> list[JobId]:
        """The first waiting jobs in order, remembered until the class changes."""
        if self._first_jobs is None:
            self._first_jobs = self.walk_heap(MAX_FIRST)
        return self._first_jobs

    def walk_heap(self, most: int) -> list[JobId]:
        """The first waiting jobs in order. Looks at no more of the heap than it must."""
        found: list[JobId] = []
        frontier = [(self.heap[0], 0)] if self.heap else []
        while frontier and len(found) < most:
            (rank, job), index = heappop(frontier)
            if self.waiting.get(job) == rank and job not in found[-1:]:
                found.append(job)
            for child in (2 * index + 1, 2 * index + 2):
                if child < len(self.heap):
                    heappush(frontier, (self.heap[child], child))
        return found

    def remove(self, job: JobId) -> None:
        self._turn = self._first_jobs = self.shortest = self.first_limits_s = None
        del self.waiting[job]
        if len(self.heap) > 2 * len(self.waiting) + MOST_STALE:
            self.heap = [(rank, waiting) for waiting, rank in self.waiting.items()]
            heapify(self.heap)


@dataclass(slots=True, eq=False)
class Classes:
    """Several classes of one owner, sorted by their turns. Only those that changed are sorted in again."""

    owner: str
    classes: dict[ClassKey, JobClass] = field(default_factory=dict)
    wide: int = 0  # classes whose requests are wide
    _order: list[Head] = field(default_factory=list)
    _turns: dict[JobClass, Turn] = field(default_factory=dict)  # under which each stands in the order
    _changed: set[JobClass] = field(default_factory=set)

    def add(self, klass: JobClass) -> None:
        self.classes[klass.key] = klass
        self.wide += klass.request.is_wide

    def drop(self, key: ClassKey) -> None:
        del self.classes[key]
        self.wide -= key.request.is_wide

    def turn(self) -> Turn:
        return self.in_order()[0][0]

    def head(self) -> Head | None:
        order = self.in_order()
        return order[0] if order else None

    def first_behind(self, turn: Turn) -> Head | None:
        """The first class whose turn comes later than this one."""
        place = bisect_right(self.in_order(), turn, key=_turn)
        return self._order[place] if place < len(self._order) else None

    def behind(self, turn: Turn) -> list[JobClass]:
        """All classes whose turns come later than this one."""
        place = bisect_right(self.in_order(), turn, key=_turn)
        return [klass for _, klass in self._order[place:]]

    def changed(self, klass: JobClass) -> None:
        """Note that the class was added, grew, or lost a job."""
        self._changed.add(klass)

    def in_order(self) -> list[Head]:
        """The classes by turn."""
        if self._changed:
            self._sort_in()
        return self._order

    def _sort_in(self) -> None:
        changed, self._changed = self._changed, set()
        if len(changed) * 8 > len(self.classes):
            self._order = sorted(((klass.turn(), klass) for klass in self.classes.values()), key=_turn)
            self._turns = {klass: turn for turn, klass in self._order}
            return
        for klass in changed:
            if (turn := self._turns.pop(klass, None)) is not None:
                del self._order[bisect_left(self._order, turn, key=_turn)]
        for klass in changed:
            if klass.waiting:
                turn = self._turns[klass] = klass.turn()
                insort(self._order, (turn, klass), key=_turn)


def _turn(entry: Head) -> Turn:
    return entry[0]


@dataclass(slots=True)
class Queue:
    classes: dict[ClassKey, JobClass] = field(default_factory=dict)
    owners: dict[str, Classes] = field(default_factory=dict)
    requests: dict[Request, dict[str, dict[ClassKey, JobClass]]] = field(default_factory=dict)  # then by owner
    kinds: dict[KindKey, Kind] = field(default_factory=dict)
    moved: MovedJobs = field(default_factory=MovedJobs)
    by_run: dict[JobId, ClassKey] = field(default_factory=dict)  # of the jobs whose class has a run_magnitude
    least: LeastRequests = field(default_factory=LeastRequests)  # where none of them fits, no waiting job does

    def __len__(self) -> int:
        return sum(len(klass.waiting) for klass in self.classes.values())

    def add_many(self, jobs: Collection[Job], run_s: RunTimes | None = None) -> None:
        """`run_s` tells how long namesakes of a job took, where lengths count."""
        self.moved.add_many(jobs)
        grown: dict[ClassKey, list[Job]] = {}
        known: Job | None = None  # jobs of an array have the same class
        together: list[Job] | None = None
        for job in jobs:
            if known is None or job.spec is not known.spec or job.group != known.group:
                key, known, together = class_key(job), job, None
            if run_s is not None and job.spec.time_limit_s is None and (seconds := run_s(job.spec)) is not None:
                key, together = class_key(job, seconds), None
                self.by_run[job.id] = key
            if together is None:
                together = grown.setdefault(key, [])
            together.append(job)
        for key, some in grown.items():
            klass = self._class_of(key)
            klass.add_many(some)
            self._changed(klass)

    def remove(self, job: Job) -> None:
        key = self.by_run.pop(job.id, None) or class_key(job)
        klass = self.classes[key]
        klass.remove(job.id)
        self.moved.remove(job)
        self._changed(klass)
        if not klass.waiting:
            self._drop(key)

    def class_of(self, job: Job) -> JobClass | None:
        return self.classes.get(self.key_of(job))

    def key_of(self, job: Job) -> ClassKey:
        return self.by_run.get(job.id) or class_key(job)

    def learned(self, ended: JobSpec, jobs: Mapping[JobId, Job], run_s: RunTimes) -> None:
        """Move first jobs to other classes whose length is known better now. Only a few, so that an end stays cheap."""
        if ended.request not in self.requests or ended.owner not in self.requests[ended.request]:
            return
        left = MOST_MOVED
        for klass in list(self.requests[ended.request][ended.owner].values()):
            while left and klass.waiting and klass.key.limit_magnitude < 0:
                job = jobs[klass.head_job()]
                if _magnitude(run_s(job.spec)) == klass.key.run_magnitude:
                    break
                self.remove(job)
                self.add_many([job], run_s)
                left -= 1

    def in_order(self) -> Iterator[JobId]:
        """Every waiting job by rank. For display; a scheduling pass does not use it."""
        entries = [(rank, job) for klass in self.classes.values() for job, rank in klass.waiting.items()]
        return (job for _, job in sorted(entries))

    def _class_of(self, key: ClassKey) -> JobClass:
        klass = self.classes.get(key)
        if klass is None:
            kind = self._kind_of(key)
            klass = self.classes[key] = JobClass(key=key, kind=kind)
            if kind.add(key.request):
                self.least.changed(kind)
            owner = key.owner
            self.requests.setdefault(key.request, {}).setdefault(owner, {})[key] = klass
            for owners in (self.owners, kind.owners):
                owners.setdefault(owner, Classes(owner)).add(klass)
        return klass

    def _kind_of(self, key: ClassKey) -> Kind:
        name = kind_key(key.request, key.limit_magnitude)
        kind = self.kinds.get(name)
        if kind is None:
            kind = self.kinds[name] = Kind(name)
        return kind

    def _changed(self, klass: JobClass) -> None:
        self.owners[klass.owner].changed(klass)
        klass.kind.owners[klass.owner].changed(klass)

    def _drop(self, key: ClassKey) -> None:
        kind = self.classes.pop(key).kind
        if kind.remove(key.request):
            self.least.changed(kind)
        for owners in (self.owners, kind.owners):
            owners[key.owner].drop(key)
            if not owners[key.owner].classes:
                del owners[key.owner]
        if not kind.owners:
            del self.kinds[kind.key]
        same_request = self.requests[key.request]
        del same_request[key.owner][key]
        if not same_request[key.owner]:
            del same_request[key.owner]
        if not same_request:
            del self.requests[key.request]
