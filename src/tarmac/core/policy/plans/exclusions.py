"""Which free GPUs a job must not take: those of planned starts and those reserved for other owners."""

from __future__ import annotations

from bisect import bisect_left
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from tarmac.core.model.ids import GpuUuid
from tarmac.core.policy.reservations import in_the_way
from tarmac.core.runtimes import CAUTION

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job, JobSpec, Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.state import State

NO_GPUS: frozenset[GpuUuid] = frozenset()
ROUNDING_S = 1e-3  # of sums of moments
LengthName: TypeAlias = Literal["usual_s", "cautious_s", "certain_s"]  # a field of Lengths
ALL_GPUS: frozenset[GpuUuid] = frozenset({GpuUuid("*")})  # closes the node, even for jobs without GPUs


class ExcludesGpus(Protocol):
    """Withholds GPUs from a job, node by node."""

    def off(self, node: Node) -> frozenset[GpuUuid]: ...


class Exclusions:
    """Everything withheld from one job: the planned starts that it would delay, and others' reservations."""

    def __init__(self, state: State, job: Job, now: float, plans: Iterable[PlannedStart]) -> None:
        self._state = state
        self._job = job
        self._now = now
        delayed = delayed_by(state, job, now, plans)
        self._planned = PlannedGpus(delayed, job.spec.request) if delayed else None
        self._end = state.runtimes.end_if_started(job.spec, now) if state.reservations else None

    def off(self, node: Node) -> frozenset[GpuUuid]:
        reserved = self.reserved(node)
        if self._planned is None:
            return reserved
        planned = self._planned.off(node)
        return planned if planned is ALL_GPUS else reserved | planned

    def reserved(self, node: Node) -> frozenset[GpuUuid]:
        if not self._state.reservations:
            return NO_GPUS
        others = in_the_way(self._state, self._job.spec, node.name, self._now, self._end)
        return frozenset(gpu for one in others for gpu in one.gpus)


class PlannedGpus:
    """What planned starts withhold from a request that would delay all of them."""

    def __init__(self, plans: Iterable[PlannedStart], request: Request) -> None:
        uses_host = bool(request.memory_bytes or request.cpus)
        self._off: dict[NodeName, frozenset[GpuUuid]] = {}
        for planned in plans:
            off = self._off.get(planned.node, NO_GPUS)
            is_closed = off is ALL_GPUS or (planned.uses_host and uses_host)
            self._off[planned.node] = ALL_GPUS if is_closed else off | planned.gpus

    def off(self, node: Node) -> frozenset[GpuUuid]:
        return self._off.get(node.name, NO_GPUS)


class Lengths(NamedTuple):
    """How long a job would run, for plans: as expected, as a long run of its kind, and by its limit (or inf)."""

    usual_s: float
    cautious_s: float
    certain_s: float

    def delays(self, now: float, bound: Bound) -> bool:
        """Would a job of that length, started now, still run when the planned start is due?"""
        return now + bound.counting(self) > bound.until


class Bound(NamedTuple):
    """What a job must keep to in order to pass a planned start."""

    length: LengthName  # which of its lengths counts
    until: float  # when it must have ended

    @classmethod
    def of(cls, planned: PlannedStart) -> Bound:
        """Nothing uncertain may break a promise, and an overdue job must not suffer from what only might be short."""
        length: LengthName = "certain_s" if planned.is_promise else "cautious_s" if planned.is_overdue else "usual_s"
        until = planned.backfill_until
        return cls(length, -inf if until is None else until)

    def counting(self, lengths: Lengths) -> float:
        """The length that counts."""
        seconds: float = getattr(lengths, self.length)
        return seconds


class Windows:
    """How long a job may run at most in place of any planned start."""

    __slots__ = ("_longest", "_longest_s", "_now")

    def __init__(self, now: float, plans: Iterable[PlannedStart] = ()) -> None:
        self._now = now
        self._longest: dict[LengthName, float] = {"usual_s": -inf, "cautious_s": -inf, "certain_s": -inf}
        self._longest_s = -inf
        for planned in plans:
            self.add(Bound.of(planned))

    def add(self, bound: Bound) -> None:
        window_s = bound.until - self._now
        self._longest[bound.length] = max(self._longest[bound.length], window_s)
        self._longest_s = max(self._longest_s, window_s)

    def admit_limit(self, limit_s: float) -> bool:
        """The same for a job with this time limit."""
        return limit_s <= self._longest_s + ROUNDING_S

    def admit(self, lengths: Lengths) -> bool:
        """May it pass one of the planned starts? Rounding may admit a job that is a little too long."""
        longest = self._longest
        return (
            lengths.usual_s <= longest["usual_s"] + ROUNDING_S
            or lengths.cautious_s <= longest["cautious_s"] + ROUNDING_S
            or lengths.certain_s <= longest["certain_s"] + ROUNDING_S
        )


def lengths_of(state: State, spec: JobSpec) -> Lengths:
    limit_s = spec.time_limit_s
    if limit_s is not None:
        return Lengths(limit_s, limit_s, limit_s)
    usual_s, longest_s = state.runtimes.usual_and_longest_s(spec)
    return Lengths(usual_s, inf if longest_s is None else CAUTION * longest_s, inf)


class PlanBits:
    """Which plans a job would delay if it started now, as bits: of the first plan 1, of the second 2, and so on.

    Plans are sorted by the moment they are due, so that the cost per job does not grow with their number.
    """

    __slots__ = ("_bit_of", "_by_length", "_by_limit", "_next", "_now")

    def __init__(self, now: float) -> None:
        self._now = now
        self._next = 1  # the bit of the next plan
        self._bit_of: dict[JobId, int] = {}
        self._by_length: dict[LengthName, _DueBits] = {}
        self._by_limit = _DueBits()  # a limit is each of the lengths

    def add(self, planned: PlannedStart, bound: Bound) -> None:
        bit = self._next
        self._bit_of[planned.job] = self._bit_of.get(planned.job, 0) | bit  # one on several nodes has several plans
        self._next <<= 1
        if bound.length not in self._by_length:
            self._by_length[bound.length] = _DueBits()
        self._by_length[bound.length].add(bound.until, bit)
        self._by_limit.add(bound.until, bit)

    def of(self, state: State, job: Job) -> int:
        """A plan does not exclude the job that it is for."""
        limit_s, now = job.spec.time_limit_s, self._now
        if limit_s is not None:
            bits = self._by_limit.before(now + limit_s)
        else:
            lengths, bits = lengths_of(state, job.spec), 0
            for length, dues in self._by_length.items():
                bits |= dues.before(now + getattr(lengths, length))
        return bits & ~self._bit_of.get(job.id, 0)

    def others_by_limit(self, jobs: Iterable[JobId], limits_s: Iterable[float], tried: Container[int]) -> list[JobId]:
        """Of jobs with these time limits and without plans, those that would delay other plans than those tried."""
        now, moments, bits = self._now, self._by_limit.moments, self._by_limit.bits
        both = zip(jobs, limits_s, strict=True)
        return [job for job, limit_s in both if bits[bisect_left(moments, now + limit_s)] not in tried]


class _DueBits:
    """Moments in ascending order, and the bits of all moments before each."""

    __slots__ = ("bits", "moments")

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.bits = [0]

    def add(self, until: float, bit: int) -> None:
        place = bisect_left(self.moments, until)
        self.moments.insert(place, until)
        self.bits[place + 1 :] = [before | bit for before in self.bits[place:]]

    def before(self, end: float) -> int:
        return self.bits[bisect_left(self.moments, end)]


def delayed_by(state: State, job: Job, now: float, plans: Iterable[PlannedStart]) -> list[PlannedStart]:
    """The plans that the job, started now on their GPUs, would delay: it would still run when they are due."""
    lengths = lengths_of(state, job.spec)
    return [planned for planned in plans if planned.job != job.id and lengths.delays(now, Bound.of(planned))]


def would_delay(state: State, job: Job, now: float, planned: PlannedStart) -> bool:
    return bool(delayed_by(state, job, now, (planned,)))
