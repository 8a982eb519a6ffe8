"""Each waiting job's place in the queue and expected start, cached.

Both cost a walk over the queue, so lists share one answer. The longer that walk takes, the longer its answer is used.
"""

from __future__ import annotations

from itertools import count
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from tarmac.core.forecast.queue_forecast import estimates
from tarmac.core.lines import lines, place_of
from tarmac.core.model.status import Queued
from tarmac.core.policy.order.own_order import sorted_in_own_order
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.progress.reader import ProgressReader
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.lines import LineKey
    from tarmac.core.model.ids import JobId
    from tarmac.core.state import State

FEW = 3  # places that are looked up one by one
CHEAP_S = 0.01
REUSED_FACTOR = 20  # an answer that is expensive is used for this many times as long as it took
ESTIMATES_GOOD_S = 1.0


class Places:
    """The place of each waiting job among those of its owner and tier, from 1.

    A few are looked up one by one; for more, all are computed at once, which takes long if a million wait.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asked = 0
        self._all: dict[JobId, int] | None = None
        self.cost_s = 0.0  # of computing all

    def get(self, number: JobId) -> int | None:
        if self._all is None:
            state = self._engine.state
            self._asked += 1
            if self._asked <= FEW and state.rules.order == "submitted":
                job = state.jobs.get(number)
                return None if job is None or not isinstance(job.status, Queued) else place_of(state, job)
            began = thread_time()
            self._all = places(state)
            self.cost_s = thread_time() - began
        return self._all.get(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    places: Places
    estimates: dict[JobId, Estimate]
    progress: dict[JobId, float]  # when running jobs end by their own progress
    generation: int
    at: float
    estimates_cost_s: float

    @property
    def cost_s(self) -> float:
        return self.estimates_cost_s + self.places.cost_s


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
        return Forecast(
            places=Places(self._engine),
            estimates=found,
            progress=ends,
            generation=self._engine.generation,
            at=monotonic(),
            estimates_cost_s=thread_time() - began,
        )


def places(state: State) -> dict[JobId, int]:
    """The place of each waiting job in its line, from 1."""
    found: dict[JobId, int] = {}
    for line in lines_in_order(state).values():
        found.update(zip(line, count(1), strict=False))
    return found


def lines_in_order(state: State) -> dict[LineKey, list[JobId]]:
    """The waiting jobs of each owner and tier, in the order in which they go."""
    found = lines(state)
    if state.rules.order == "submitted":
        return found
    return {
        key: [job.id for job in sorted_in_own_order(state, [state.jobs[job] for job in line])]
        for key, line in found.items()
    }
