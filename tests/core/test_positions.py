"""Positions of moved jobs lie between their neighbours and differ from the job's id."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.positions import new_position, spread
from tests.core.support.builders import a_job, a_state
from tests.core.support.effort import tries

bounds = st.one_of(st.integers(-5, 15).map(float), st.floats(-5, 15), st.none())


@tries(500)
@given(number=st.integers(1, 10), position=st.floats(-5, 15), one=bounds, other=bounds)
def test_a_new_position_is_between_its_neighbours(
    number: int, position: float, one: float | None, other: float | None
) -> None:
    known = [end for end in (one, other) if end is not None]
    low = -inf if one is None else min(known)
    high = inf if other is None else max(known)
    for own in (position, number):
        job = a_job(number)
        job.position = own
        found = new_position(job, low, high)
        if found is None:
            assert high - low < 1e-6, "only where there is hardly any room"
        else:
            assert low < found < high
            assert found != job.id
            assert not low < own < high or own - 1e-9 <= found <= own + 0.5, "no gain over others who are already there"


@pytest.mark.parametrize(("low", "high"), [(2.0, nextafter(2.0, 3.0)), (2.0, 2.0)])
def test_there_may_be_no_room(low: float, high: float) -> None:
    assert new_position(a_job(9), low, high) is None


@tries(200)
@given(
    ids=st.lists(st.integers(1, 30), min_size=1, max_size=12, unique=True),
    moved=st.dictionaries(st.integers(1, 30), st.one_of(st.floats(-3, 33), st.integers(1, 30)), max_size=8),
)
def test_spreading_keeps_the_order_and_the_jobs_that_were_not_moved(ids: list[int], moved: dict[int, float]) -> None:
    jobs = [a_job(number) for number in ids]
    for job in jobs:
        job.position = moved.get(job.id, job.id)
    state = a_state(jobs=tuple(jobs))
    line = sorted(jobs, key=lambda job: (job.position, job.id))
    before = {job.id: job.is_moved for job in jobs}
    spread(state, line)
    assert [job.position for job in line] == sorted({job.position for job in line}), "each has its own"
    assert {job.id: job.is_moved for job in jobs} == before
    gaps = [behind.position - job.position for job, behind in pairwise(line)]
    assert min(gaps, default=1.0) > 0.01
