"""The planned starts of one pass: which of them a job would delay, and which jobs may pass them."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.policy.plans.candidates import first_limits_s, shortest_of
from tarmac.core.policy.plans.exclusions import Bound, PlanBits, Windows

if TYPE_CHECKING:
    from collections.abc import Container

    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.queue.queue import JobClass
    from tarmac.core.state import State


class PassPlans:
    def __init__(self, state: State, now: float) -> None:
        self._state = state
        self._bits = PlanBits(now)
        self._windows = Windows(now)
        self.all: list[PlannedStart] = []
        self.gpus_of_owner: Counter[str] = Counter()

    def add(self, planned: PlannedStart) -> None:
        bound = Bound.of(planned)
        self._bits.add(planned, bound)
        self._windows.add(bound)
        self.all.append(planned)
        self.gpus_of_owner[self._state.jobs[planned.job].spec.owner] += len(planned.gpus)

    @property
    def good_until(self) -> float:
        """When an expectation that they rest on runs out."""
        return min((planned.good_until for planned in self.all), default=inf)

    def nodes(self) -> set[NodeName]:
        return {planned.node for planned in self.all}

    def delayed(self, job: Job) -> int:
        """The plans that the job would delay, as bits."""
        return self._bits.of(self._state, job) if self.all else 0

    def of(self, bits: int) -> list[PlannedStart]:
        return [planned for place, planned in enumerate(self.all) if bits >> place & 1] if bits else []

    def others(self, klass: JobClass, place: int, tried: Container[int]) -> list[JobId]:
        """Of the first jobs of a class from this place on, those that would delay other plans than those tried."""
        jobs, is_planned = klass.first_jobs(), self._has(klass)
        if (1 << len(self.all)) - 1 in tried and not is_planned and not self._admit(klass):
            return []
        if klass.has_limits and not is_planned:
            limits_s = first_limits_s(self._state, klass)
            return self._bits.others_by_limit(jobs[place:], limits_s[place:], tried)
        return [job for job in jobs[place:] if self.delayed(self._state.jobs[job]) not in tried]

    def _has(self, klass: JobClass) -> bool:
        """Is one of them for a job of this class?"""
        return any(planned.job in klass.waiting for planned in self.all)

    def _admit(self, klass: JobClass) -> bool:
        """May one of its first jobs pass a planned start?"""
        return self._windows.admit(shortest_of(self._state, klass))
