"""What lies before the jobs that wait: each one's place and when it is expected to start.

Both cost a walk over the queue, so lists share one answer; a queue that takes long to look at is looked at less often.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from tarmac.core.forecast.queue_forecast import estimates
from tarmac.core.model.status import Queued
from tarmac.core.queue import turn_of

if TYPE_CHECKING:
    from tarmac.controller.engine import Engine
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

CHEAP_S = 0.01
REST = 20  # an answer that took long is good for so many times as long
ESTIMATES_GOOD_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Of one moment."""

    places: dict[JobId, int]  # among the waiting jobs of its owner and tier, the first is 1
    estimates: dict[JobId, Estimate]
    generation: int
    at: float
    cost_s: float


class OutlookBoard:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: Outlook | None = None

    def now(self, *, is_fresh: bool = False) -> Outlook:
        """`is_fresh`: nothing of it is older than the state, whatever it costs."""
        known = self._known
        if known is None or not self._is_good(known, is_fresh=is_fresh):
            known = self._known = self._look()
        return known

    def _is_good(self, known: Outlook, *, is_fresh: bool) -> bool:
        age_s = perf_counter() - known.at
        if known.generation == self._engine.generation:
            return age_s < max(ESTIMATES_GOOD_S, REST * known.cost_s)
        return not is_fresh and known.cost_s > CHEAP_S and age_s < REST * known.cost_s

    def _look(self) -> Outlook:
        began = perf_counter()
        state = self._engine.state
        found = estimates(state, self._engine.now())
        ordered = places(state)
        ended = perf_counter()
        return Outlook(
            places=ordered, estimates=found, generation=self._engine.generation, at=ended, cost_s=ended - began
        )


def places(state: State) -> dict[JobId, int]:
    lines: dict[tuple[str, str], list[Job]] = {}
    for job in state.jobs.values():
        if isinstance(job.status, Queued):
            lines.setdefault((job.spec.owner, job.spec.tier), []).append(job)
    return {job.id: place for line in lines.values() for place, job in enumerate(sorted(line, key=turn_of), 1)}
