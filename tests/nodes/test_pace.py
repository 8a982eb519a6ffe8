"""Pieces grow on a quick line and shrink on a slow one; the way there and back does not matter."""

import pytest

from tarmac.nodes.pace import LEAST_BYTES, MOST_BYTES, Pace


@pytest.mark.parametrize("round_trip_s", [0.001, 0.3])
def test_pieces_grow_while_they_are_quick(round_trip_s: float) -> None:
    pace = Pace()
    for _ in range(10):
        pace.took(round_trip_s)
    assert pace.bytes == MOST_BYTES


def test_pieces_shrink_on_a_slow_line() -> None:
    pace, rate = Pace(), 100_000
    for _ in range(20):
        pace.took(0.01 + pace.bytes / rate)
    assert LEAST_BYTES <= pace.bytes <= 2 * LEAST_BYTES
