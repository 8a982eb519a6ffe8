"""Which of an owner's jobs goes first. Tier and priority always win; within them, the rule `order` decides.

- `submitted`: by position, the order in which people typed the jobs.
- `expected`: by (wait ÷ expected length)³ × GPUs. A job that has waited for `LONGEST_WAIT_S` goes before these, by
  position, so that no job starves. A job that was moved keeps its place among the positions.

Jobs of one class always keep their positions. Waits count until the last pass, so that the order stays the same until
the next one.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace, merge
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.queue.moved_jobs import MovedJobs
from tarmac.core.queue.queue import Classes, JobClass, turn_of
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.rules import Rules
    from tarmac.core.queue.moved_jobs import Spot
    from tarmac.core.queue.queue import ClassKey, Head, Turn
    from tarmac.core.state import State


@dataclass(slots=True, eq=False)
class Rest:
    """Jobs of a class behind those that did not fit."""

    klass: JobClass
    jobs: list[JobId]

    def head(self) -> Head | None:
        return (self.klass.turn_of(self.jobs[0]), self.klass) if self.jobs else None


@dataclass(slots=True, eq=False)
class Behind:
    """An owner's classes behind one that was set aside."""

    classes: Classes
    after: Turn

    def head(self) -> Head | None:
        return self.classes.first_behind(self.after)


Source: TypeAlias = Classes | JobClass
Part: TypeAlias = Source | Behind | Rest
LineEntry: TypeAlias = "tuple[Turn, JobClass, Part]"  # the head of the part; no two jobs have the same turn
# Tier, priority, the last moved job up to here, group, score or position, position, job. The lower goes first.
Key: TypeAlias = "tuple[int, int, Spot, int, float, float, JobId]"
GROUP = 3
MOVED, BY_POSITION, BY_SCORE = range(3)  # groups

LONGEST_WAIT_S = 14 * 86400.0
SHORTEST_WAIT_S = 60.0  # a shorter wait counts as this one: jobs submitted together are ordered by length at once
SHORTEST_RUN_S = 1.0


def do_turns_rotate(rules: Rules) -> bool:
    """Does a start change the order of the other jobs? Not under fifo, unless the job held a place for a later one."""
    return rules.policy != "fifo" or rules.order != "submitted"


def score(wait_s: float, expected_s: float, gpus: int) -> float:
    """The higher goes first. A job without GPUs counts as one with a single GPU."""
    ratio = max(wait_s, SHORTEST_WAIT_S) / max(expected_s, SHORTEST_RUN_S)
    return ratio**3 * max(1, gpus)


def expected_key(state: State, job: Job, moved: MovedJobs) -> Key:
    """The place of a job under `expected`."""
    tier, priority, position, number = turn_of(job)
    behind = moved.last_up_to(job)
    if job.is_moved:
        return (tier, priority, behind, MOVED, 0.0, position, number)
    wait_s = state.pass_at - job.waits_since
    if wait_s >= LONGEST_WAIT_S:
        return (tier, priority, behind, BY_POSITION, 0.0, position, number)
    points = score(wait_s, state.runtimes.planning_s(job.spec), job.spec.request.total_gpus)
    return (tier, priority, behind, BY_SCORE, -points, position, number)


def first_job(state: State, own: Classes) -> JobId:
    """The job of this owner that goes first."""
    if state.rules.order == "submitted":
        return own.turn().job
    heads = (state.jobs[klass.head_job()] for klass in own.classes.values())
    return min(expected_key(state, job, state.queue.moved) for job in heads)[-1]


def in_own_order(state: State, classes: Iterable[Iterable[Job]], moved: MovedJobs) -> Iterator[Job]:
    """The jobs of one owner as they go. Expects the jobs of each class by position."""
    if state.rules.order == "submitted":
        return merge(*classes, key=turn_of)
    return merge(*classes, key=lambda job: expected_key(state, job, moved))


def sorted_in_own_order(state: State, jobs: Iterable[Job]) -> list[Job]:
    """Any jobs of one owner as they go, also those that wait for something other than GPUs."""
    by_position = sorted(jobs, key=turn_of)
    if state.rules.order == "submitted":
        return by_position
    classes: dict[ClassKey, list[Job]] = {}
    for job in by_position:
        classes.setdefault(state.queue.key_of(job), []).append(job)
    moved = MovedJobs()
    moved.add_many(by_position)
    return list(in_own_order(state, classes.values(), moved))


class SubmittedLine:
    """One owner's classes by position. Classes stand together, also behind one that is set aside."""

    __slots__ = ("_entries",)

    def __init__(self, sources: list[Source]) -> None:
        heads = ((source.head(), source) for source in sources)
        self._entries: list[LineEntry] = [(*head, source) for head, source in heads if head is not None]
        heapify(self._entries)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def earliest(self) -> Turn:
        """The turn of the owner's job with the first position."""
        return self._entries[0][0]

    def first(self) -> tuple[JobClass, JobId]:
        turn, klass, _ = self._entries[0]
        return klass, turn.job

    def set_aside(self, rest: list[JobId]) -> None:
        """Drop the first class. Of its jobs, only `rest` is still tried."""
        turn, klass, part = heappop(self._entries)
        if rest:
            self._push(Rest(klass, rest))
        if isinstance(part, Classes | Behind):
            self._push(Behind(part if isinstance(part, Classes) else part.classes, turn))

    def set_gpus_aside(self) -> None:
        """Drop every class that asks for a GPU."""
        classes = (klass for _, _, part in self._entries for klass in _classes_in(part))
        self._entries = [(klass.turn(), klass, klass) for klass in classes if not klass.request.gpus]
        heapify(self._entries)

    def started(self) -> None:
        """Note that the first job has left the queue."""
        _, _, part = heappop(self._entries)
        if isinstance(part, Rest):
            del part.jobs[0]
        self._push(part)

    def _push(self, part: Part) -> None:
        """Add a part, unless it is empty."""
        if (head := part.head()) is not None:
            heappush(self._entries, (*head, part))


class ExpectedLine:
    """One owner's classes by expected length. They are compared only once it is the owner's turn."""

    __slots__ = ("_by_key", "_by_turn", "_left", "_rests", "_sources", "_state")

    def __init__(self, state: State, sources: list[Source]) -> None:
        self._state = state
        self._sources = sources  # until it is the owner's turn
        self._left: set[JobClass] = set()
        self._rests: dict[JobClass, list[JobId]] = {}  # of classes whose first jobs did not fit: what is still tried
        self._by_key: list[tuple[Key, JobClass]] = []
        self._by_turn: list[tuple[Turn, JobClass]] = []  # may contain classes that are not left, and old turns

    def __bool__(self) -> bool:
        return bool(self._sources or self._left)

    def earliest(self) -> Turn:
        """The turn of the owner's job with the first position, which need not be the first to go."""
        if self._sources:
            return min(source.turn() for source in self._sources)
        while True:
            turn, klass = self._by_turn[0]
            if klass not in self._left:
                heappop(self._by_turn)
            elif self._turn(klass) != turn:
                heapreplace(self._by_turn, (self._turn(klass), klass))
            else:
                return turn

    def first(self) -> tuple[JobClass, JobId]:
        if self._sources:
            self._compare()
        _, klass = self._by_key[0]
        return klass, self._turn(klass).job

    def set_aside(self, rest: list[JobId]) -> None:
        """Drop the first class. Of its jobs, only `rest` is still tried."""
        _, klass = heappop(self._by_key)
        if rest:
            self._rests[klass] = rest
            heappush(self._by_key, (self._key(klass), klass))
        else:
            self._left.remove(klass)

    def set_gpus_aside(self) -> None:
        """Drop every class that asks for a GPU."""
        self._by_key = [(key, klass) for key, klass in self._by_key if not klass.request.gpus]
        self._left = {klass for _, klass in self._by_key}
        heapify(self._by_key)

    def started(self) -> None:
        """Note that the first job has left the queue."""
        key, klass = self._by_key[0]
        rest = self._rests.get(klass)
        if rest is not None:
            del rest[0]
        if klass.waiting if rest is None else rest:
            heapreplace(self._by_key, (self._key(klass), klass))
        else:
            self.set_aside([])
        if key[GROUP] == MOVED:  # the jobs behind it are no longer
            self._by_key = [(self._key(klass), klass) for _, klass in self._by_key]
            heapify(self._by_key)

    def _compare(self) -> None:
        classes = [klass for source in self._sources for klass in classes_of(source)]
        self._sources = []
        self._left = set(classes)
        self._by_key = [(self._key(klass), klass) for klass in classes]
        self._by_turn = [(klass.turn(), klass) for klass in classes]
        heapify(self._by_key)
        heapify(self._by_turn)

    def _key(self, klass: JobClass) -> Key:
        state = self._state
        return expected_key(state, state.jobs[self._turn(klass).job], state.queue.moved)

    def _turn(self, klass: JobClass) -> Turn:
        rest = self._rests.get(klass)
        return klass.turn() if rest is None else klass.turn_of(rest[0])


Line: TypeAlias = SubmittedLine | ExpectedLine


def own_line(state: State, sources: list[Source]) -> Line:
    return ExpectedLine(state, sources) if state.rules.order == "expected" else SubmittedLine(sources)


def classes_of(source: Source) -> Iterable[JobClass]:
    return source.classes.values() if isinstance(source, Classes) else (source,)


def _classes_in(part: Part) -> Iterable[JobClass]:
    match part:
        case Behind():
            return part.classes.behind(part.after)
        case Rest():
            return (part.klass,)
        case _:
            return classes_of(part)
