"""Places and estimates are worked out once for a whole list, and anew once something was decided."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest

from tarmac.controller import forecast_cache
from tarmac.controller.forecast_cache import ForecastCache, places
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Held
from tarmac.core.state import State
from tests.core.support.builders import a_job, a_spec, a_state


@dataclass
class AnEngine:
    state: State = field(default_factory=State)
    generation: int = 0

    def now(self) -> float:
        return 1000.0


class NoProgress:
    read_at = 0.0

    def ends(self) -> dict[int, float]:
        return {}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[State]:
    found: list[State] = []

    def look(state: State, *_: object) -> dict[Any, Any]:
        found.append(state)
        return {}

    monkeypatch.setattr(forecast_cache, "estimates", look)
    return found


def test_a_forecast_is_reused_until_something_is_decided(looks: list[State]) -> None:
    engine = AnEngine()
    cache = ForecastCache(engine, NoProgress())  # type: ignore[arg-type]
    assert cache.now() is cache.now(is_fresh=True)
    assert len(looks) == 1
    engine.generation += 1
    cache.now()
    assert len(looks) == 2


def test_an_expensive_forecast_is_reused_for_longer(looks: list[State], monkeypatch: pytest.MonkeyPatch) -> None:
    engine, clock, work = AnEngine(), iter([1.0, 2.0, 3.0, 4.0, 99.0, 99.5]), itertools.count(0.0)
    monkeypatch.setattr(forecast_cache, "monotonic", lambda: next(clock))
    monkeypatch.setattr(forecast_cache, "thread_time", lambda: next(work))
    cache = ForecastCache(engine, NoProgress())  # type: ignore[arg-type]
    first = cache.now()  # takes a second of work
    engine.generation += 1
    assert cache.now() is first, "a list may be a little old"
    assert cache.now(is_fresh=True) is not first, "a forecast for one job is not"
    engine.generation += 1
    cache.now()
    assert len(looks) == 3, "but not for ever"


def test_a_busy_machine_does_not_make_a_forecast_expensive(looks: list[State], monkeypatch: pytest.MonkeyPatch) -> None:
    engine, clock = AnEngine(), iter([1.0, 1.1, 1.2])  # the controller hardly ran meanwhile
    monkeypatch.setattr(forecast_cache, "monotonic", lambda: next(clock))
    monkeypatch.setattr(forecast_cache, "thread_time", lambda: 0.0)
    cache = ForecastCache(engine, NoProgress())  # type: ignore[arg-type]
    cache.now()
    engine.generation += 1
    cache.now()
    assert len(looks) == 2


def test_places_count_among_the_waiting_jobs_of_one_owner_and_tier() -> None:
    urgent = a_job(6)
    urgent.spec = a_spec(tier="urgent")
    jobs = (
        a_job(1),
        a_job(2, priority=1),
        a_job(3, owner="bob"),
        a_job(4, position=0),
        a_job(5, status=Held(by="ann", since=1.0)),
        urgent,
    )
    state = a_state(jobs=jobs)
    assert places(state) == {2: 1, 4: 2, 1: 3, 3: 1, 6: 1}


def test_places_follow_the_order_by_expected_length() -> None:
    """Also those of jobs that wait for another job."""
    jobs = tuple(a_job(number) for number in range(1, 5))
    for job, limit_s in zip(jobs, (900.0, 100.0, 500.0, 50.0), strict=True):
        job.spec = a_spec(time_limit_s=limit_s, after=(After(job=JobId(1)),) if job.id == 4 else ())
    state = a_state(jobs=jobs)
    assert places(state) == {1: 1, 2: 2, 3: 3, 4: 4}
    state.rules = Rules(order="expected")
    assert places(state) == {4: 1, 2: 2, 3: 3, 1: 4}
    state.put(jobs[3], 2.5)
    assert places(state) == {2: 1, 1: 2, 4: 3, 3: 4}


def test_a_few_places_are_those_that_a_whole_list_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [a_job(number, priority=20 - number) for number in range(1, 6)]
    state = a_state(jobs=(*jobs, a_job(6, status=Held(by="ann", since=1.0))))
    walked: list[State] = []

    def walk(state: State) -> dict[JobId, int]:
        walked.append(state)
        return places(state)

    monkeypatch.setattr(forecast_cache, "places", walk)
    forecast = ForecastCache(AnEngine(state), NoProgress()).now()  # type: ignore[arg-type]
    few = [forecast.places.get(JobId(number)) for number in (1, 5, 6)]
    assert (few, walked) == ([5, 1, None], [])
    every = [forecast.places.get(JobId(number)) for number in range(1, 7)]
    assert every == [places(state).get(JobId(number)) for number in range(1, 7)] == [5, 4, 3, 2, 1, None]
    assert len(walked) == 1
