"""Which free GPUs a job must not take: those of a planned start and those reserved for other owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tarmac.core.model.ids import GpuUuid
from tarmac.core.policy.reservations import in_the_way

if TYPE_CHECKING:
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.state import State

ALL_GPUS: frozenset[GpuUuid] = frozenset({GpuUuid("*")})  # closes the node, even for jobs without GPUs


class ExcludesGpus(Protocol):
    """Withholds GPUs from a job, node by node."""

    def off(self, node: Node) -> frozenset[GpuUuid]: ...


class Exclusions:
    """Everything withheld from one job: the planned start of another and others' reservations."""

    def __init__(self, state: State, job: Job, now: float, planned: PlannedStart | None) -> None:
        self._state = state
        self._job = job
        self._now = now
        self._planned = planned if would_delay(state, job, now, planned) else None
        self._end = state.runtimes.end_if_started(job.spec, now)

    def off(self, node: Node) -> frozenset[GpuUuid]:
        reserved = self.reserved(node)
        if self._planned is None:
            return reserved
        planned = PlannedGpus(self._planned, self._job.spec.request).off(node)
        return planned if planned is ALL_GPUS else reserved | planned

    def reserved(self, node: Node) -> frozenset[GpuUuid]:
        if not self._state.reservations:
            return frozenset()
        others = in_the_way(self._state, self._job.spec, node.name, self._now, self._end)
        return frozenset(gpu for one in others for gpu in one.gpus)


class PlannedGpus:
    """What a planned start withholds from a request that would delay it."""

    def __init__(self, planned: PlannedStart, request: Request) -> None:
        self._planned = planned
        self._competes_for_host = planned.uses_host and bool(request.memory_bytes or request.cpus)

    def off(self, node: Node) -> frozenset[GpuUuid]:
        if node.name != self._planned.node:
            return frozenset()
        return ALL_GPUS if self._competes_for_host else self._planned.gpus


def would_delay(state: State, job: Job, now: float, planned: PlannedStart | None) -> bool:
    """Would the job, started now on the planned GPUs, still run when the planned start is due?"""
    if planned is None or planned.job == job.id:
        return False
    end = state.runtimes.end_if_started(job.spec, now)
    return planned.backfill_until is None or end is None or end > planned.backfill_until
