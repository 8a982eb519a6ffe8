"""GPU time by the hour, where the machine is: split, kept until it is stored, and given back if that fails."""

from datetime import UTC, datetime

import pytest

from tarmac.controller.accounts.hours import HourBook, by_hour, hour_of
from tarmac.nodes.reports import GpuReading
from tarmac.store.node_hours import NodeHour
from tests.controller.accounts.zones import zone

HOUR_S = 3600.0
NOON = datetime(2026, 11, 17, 12, tzinfo=UTC).timestamp()


def a_reading(utilization: int | None = 50) -> GpuReading:
    return GpuReading(index=0, uuid="g0", utilization=utilization)


def test_time_is_split_at_full_hours_of_the_clock_on_the_wall() -> None:
    with zone("UTC"):
        assert by_hour(NOON - 60, NOON + HOUR_S + 1) == [(NOON - HOUR_S, 60), (NOON, HOUR_S), (NOON + HOUR_S, 1)]
    with zone("Asia/Kolkata"):
        assert hour_of(NOON) == NOON - HOUR_S / 2
    assert by_hour(NOON, NOON) == by_hour(NOON, NOON - 1) == []


def test_present_held_and_used_time_are_counted_apart() -> None:
    book = HourBook()
    with zone("UTC"):
        book.add("a", a_reading(50), (NOON, NOON + 100), 0.0)
        book.add("a", a_reading(50), (NOON, NOON + 100), 0.25)
        book.add("a", a_reading(None), (NOON, NOON + 100), 2.0)
    assert book.rows() == [
        NodeHour(at=int(NOON), node="a", present_s=300.0, held_s=125.0, measured_s=200.0, used_s=100.0)
    ]


def test_rows_that_could_not_be_stored_come_back_and_are_added_to_newer_ones() -> None:
    book = HourBook()
    book.add("a", a_reading(), (NOON, NOON + 10), 0.0)
    rows, undo = book.take()
    assert (len(rows), book.rows()) == (1, [])
    book.add("a", a_reading(), (NOON + 10, NOON + 20), 0.0)
    undo()
    assert [row.present_s for row in book.rows()] == [20.0]


@pytest.mark.parametrize(("later_s", "has_past"), [(59.0, False), (HOUR_S, True)])
def test_an_hour_that_is_over_is_due(later_s: float, has_past: bool) -> None:
    book = HourBook()
    assert not book.has_past(NOON)
    book.add("a", a_reading(), (NOON, NOON + 10), 0.0)
    assert book.has_past(NOON + later_s) is has_past
