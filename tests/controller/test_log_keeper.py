"""When logs are looked at, and what is remembered of their sizes."""

import pytest

from tarmac.controller.log_keeper import (
    AGAIN_AFTER_MOST_S,
    AGAIN_CAPPED_S,
    FIRST_S,
    MOST_MARKS,
    SOONEST_S,
    _again_after_s,
    _Watched,
)
from tarmac.core.model.ids import NodeName


def watched() -> _Watched:
    return _Watched(began=0.0, due=0.0, node=NodeName("box"), is_capped=True)


def test_a_size_is_that_of_the_last_look_before() -> None:
    file = watched()
    for at, size in ((10.0, 100), (20.0, 200), (30.0, 200), (40.0, 300)):
        file.note(at, size)
    assert [file.size_at(at) for at in (5.0, 10.0, 19.0, 25.0, 31.0, 40.0, 99.0)] == [0, 100, 100, 100, 200, 300, 300]


def test_many_looks_are_thinned_out() -> None:
    file = watched()
    for number in range(10_000):
        file.note(float(number), number)
        assert len(file.times) == len(file.sizes) <= MOST_MARKS
    assert file.size_at(9999.0) == 9999
    for at in range(100, 9999, 97):
        assert at - 400 <= file.size_at(at) <= at, "to a few per cent of the time it has been running"


@pytest.mark.parametrize(
    ("elapsed_s", "rate", "limit", "after_s"),
    [
        (0.0, 1e9, 0, FIRST_S),
        (86400.0, 0.0, 0, AGAIN_AFTER_MOST_S),
        (86400.0, 0.0, 10**9, AGAIN_CAPPED_S),
        (1.0, 1e9, 10**9, 0.25),
        (1.0, 1e9, 10**6, SOONEST_S),
    ],
)
def test_a_log_that_grows_towards_its_cap_is_looked_at_often(
    elapsed_s: float, rate: float, limit: int, after_s: float
) -> None:
    assert _again_after_s(elapsed_s, rate, limit) == pytest.approx(after_s)
