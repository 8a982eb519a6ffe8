"""Each waiting job's place in the queue and expected start, cached.

Both cost a walk over the queue, so lists share one answer. The longer that walk takes, the longer its answer is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from tarmac.core.forecast.queue_forecast import estimates
from tarmac.core.model.status import Queued
from tarmac.core.policy.own_order import sorted_in_own_order

if TYPE_CHECKING:
    from tarmac.controller.engine import Engine
    from tarmac.controller.progress.reader import ProgressReader
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

CHEAP_S = 0.01
REUSED_FACTOR = 20  # an answer that is expensive is used for this many times as long as it took
ESTIMATES_GOOD_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    places: dict[JobId, int]  # among the waiting jobs of its owner and tier; the first is 1
    estimates: dict[JobId, Estimate]
    progress: dict[JobId, float]  # when running jobs end by their own progress
    generation: int
    at: float
    cost_s: float


class ForecastCache:
    def __init__(self, engine: Engine, progress: ProgressReader) -> None:
        self._engine = engine
        self._progress = progress
        self._known: Forecast | None = None

    def now(self, *, is_fresh: bool = False) -> Forecast:
        """With `is_fresh`, no part of the answer is older than the state, whatever that costs."""
        known = self._known
        if known is None or not self._is_good(known, is_fresh=is_fresh):
            known = self._known = self._compute()
        return known

    def _is_good(self, known: Forecast, *, is_fresh: bool) -> bool:
        if self._progress.read_at > known.at and known.cost_s <= CHEAP_S:
            return False
        age_s = monotonic() - known.at
        if known.generation == self._engine.generation:
            return age_s < max(ESTIMATES_GOOD_S, REUSED_FACTOR * known.cost_s)
        return not is_fresh and known.cost_s > CHEAP_S and age_s < REUSED_FACTOR * known.cost_s

    def _compute(self) -> Forecast:
        began = thread_time()  # not by the wall: on a busy machine, a cheap answer must not count as an expensive one
        state = self._engine.state
        ends = self._progress.ends()
        found = estimates(state, self._engine.now(), ends)
        ordered = places(state)
        return Forecast(
            places=ordered,
            estimates=found,
            progress=ends,
            generation=self._engine.generation,
            at=monotonic(),
            cost_s=thread_time() - began,
        )


def places(state: State) -> dict[JobId, int]:
    lines: dict[tuple[str, str], list[Job]] = {}
    for job in state.jobs.values():
        if isinstance(job.status, Queued):
            lines.setdefault((job.spec.owner, job.spec.tier), []).append(job)
    return {job.id: place for line in lines.values() for place, job in enumerate(sorted_in_own_order(state, line), 1)}
