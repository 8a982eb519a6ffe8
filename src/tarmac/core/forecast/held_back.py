"""The GPUs that the pass holds back at the moment, so that no estimate shows a start on them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tarmac.core.policy.plans.exclusions import ALL_GPUS, NO_GPUS, PlannedGpus, would_delay
from tarmac.core.policy.scheduling_pass import Pass
from tarmac.core.queue.queue import turn_of

if TYPE_CHECKING:
    from tarmac.core.model.ids import GpuUuid, JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.state import State


def goes_before(state: State, new: Job, job: Job) -> bool:
    """True if a new job is tried before this one. Between owners, only fifo decides it for sure."""
    mine, other = turn_of(new), turn_of(job)
    is_comparable = state.rules.policy == "fifo" or job.spec.owner == new.spec.owner
    return other.tier > mine.tier or (is_comparable and other > mine)


class HeldBack:
    """The planned starts of a pass that decides nothing, and until when their GPUs are held back."""

    def __init__(self, state: State, now: float, new: Job | None = None) -> None:
        """`new`: as for `estimates`. Plans for jobs that come after it do not hold."""
        self._state = state
        turn = Pass(state, now)
        next(turn.run(), None)
        self._plans = [
            planned
            for planned in turn.plans
            if new is None
            or (planned.job != new.id and (planned.is_overdue or not goes_before(state, new, state.jobs[planned.job])))
        ]
        self._until: dict[JobId, float] = {}

    def first_jobs(self) -> list[JobId]:
        """The jobs with a planned start: nothing may delay them, so they go before the others."""
        return list(dict.fromkeys(planned.job for planned in self._plans))

    def gpus_of(self, job: JobId) -> frozenset[GpuUuid]:
        """Those that are held back for the job."""
        return frozenset(gpu for planned in self._plans if planned.job == job for gpu in planned.gpus)

    def release_at(self, job: JobId, at: float) -> None:
        """The job is estimated to start then."""
        self._until[job] = at

    def off(self, job: Job, node: Node, at: float) -> frozenset[GpuUuid]:
        """The GPUs of the node that the job is not known to get at that time: it may delay a planned start."""
        if at == inf:
            return NO_GPUS
        delayed = [
            planned
            for planned in self._plans
            if planned.node == node.name
            and at < self._until.get(planned.job, inf)
            and self._may_delay(job, at, planned)
        ]
        off = PlannedGpus(delayed, job.spec.request).off(node) if delayed else NO_GPUS
        return frozenset(node.gpus) if off is ALL_GPUS else off

    def _may_delay(self, job: Job, at: float, planned: PlannedStart) -> bool:
        """Also where the pass only guesses that the job is short or when the start is due: no estimate shows that."""
        if planned.job == job.id:
            return False
        is_known = planned.shown_at is not None and self._state.runtimes.expected_s(job.spec) is not None
        return not is_known or would_delay(self._state, job, at, planned)
