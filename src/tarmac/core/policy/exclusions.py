"""Which free GPUs a job must not take: those of planned starts and those reserved for other owners."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tarmac.core.model.ids import GpuUuid
from tarmac.core.policy.reservations import in_the_way
from tarmac.core.runtimes import CAUTION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job, JobSpec, Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.state import State

NO_GPUS: frozenset[GpuUuid] = frozenset()
USUAL_S, CAUTIOUS_S, CERTAIN_S = range(3)  # places in Lengths
ROUNDING_S = 1e-3  # of sums of moments
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
        delayed = [planned for planned in plans if would_delay(state, job, now, planned)]
        self._planned = PlannedGpus(delayed, job.spec.request) if delayed else None
        self._end = state.runtimes.end_if_started(job.spec, now)

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
        return now + self[bound.length] > bound.until


class Bound(NamedTuple):
    """What a job must keep to in order to pass a planned start."""

    length: int  # which of its lengths counts
    until: float  # when it must have ended

    @classmethod
    def of(cls, planned: PlannedStart) -> Bound:
        """Nothing uncertain may break a promise, and an overdue job must not suffer from what only might be short."""
        length = CERTAIN_S if planned.is_promise else CAUTIOUS_S if planned.is_overdue else USUAL_S
        until = planned.backfill_until
        return cls(length, -inf if until is None else until)


class Windows:
    """How long a job may run at most in place of any planned start."""

    def __init__(self, now: float, plans: Iterable[PlannedStart]) -> None:
        longest = [-inf, -inf, -inf]
        for planned in plans:
            bound = Bound.of(planned)
            longest[bound.length] = max(longest[bound.length], bound.until - now)
        self._longest = Lengths(*longest)

    def admit(self, lengths: Lengths) -> bool:
        """May it pass one of the planned starts? Rounding may admit a job that is a little too long."""
        return any(length <= window + ROUNDING_S for length, window in zip(lengths, self._longest, strict=True))


def lengths_of(state: State, spec: JobSpec) -> Lengths:
    limit_s = spec.time_limit_s
    if limit_s is not None:
        return Lengths(limit_s, limit_s, limit_s)
    longest_s = state.runtimes.longest_s(spec)
    return Lengths(state.runtimes.planning_s(spec), inf if longest_s is None else CAUTION * longest_s, inf)


def would_delay(state: State, job: Job, now: float, planned: PlannedStart) -> bool:
    """Would the job, started now on the planned GPUs, still run when the planned start is due?"""
    return planned.job != job.id and lengths_of(state, job.spec).delays(now, Bound.of(planned))
