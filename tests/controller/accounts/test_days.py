"""Time is split at midnight, where the machine is."""

from datetime import UTC, datetime

import pytest

from tarmac.controller.accounts.days import LONGEST_S, by_day, day_of, midnight
from tests.controller.accounts.zones import zone

HOUR_S = 3600.0


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]


def test_a_span_is_split_at_each_midnight() -> None:
    with zone("UTC"):
        assert by_day(utc(2026, 2, 27, 22), utc(2026, 3, 1, 1)) == [
            ("2026-02-27", 2 * HOUR_S),
            ("2026-02-28", 24 * HOUR_S),
            ("2026-03-01", HOUR_S),
        ]


def test_midnight_is_that_of_the_machine() -> None:
    with zone("Asia/Kolkata"):
        assert by_day(utc(2026, 11, 16, 18, 0), utc(2026, 11, 16, 19, 0)) == [
            ("2026-11-16", HOUR_S / 2),
            ("2026-11-17", HOUR_S / 2),
        ]
        assert midnight(utc(2026, 11, 16, 19, 0)) == utc(2026, 11, 16, 18, 30)
    with zone("UTC"):
        assert day_of(utc(2026, 11, 16, 19, 0)) == "2026-11-16"


@pytest.mark.parametrize(("month", "day", "hours"), [(3, 29, 23), (10, 25, 25)])
def test_a_day_on_which_the_clocks_change_has_another_length(month: int, day: int, hours: int) -> None:
    with zone("Europe/Berlin"):
        name = f"2026-{month:02}-{day:02}"
        parts = by_day(utc(2026, month, day - 1, 12), utc(2026, month, day + 1, 12))
        assert {part.day: part.seconds for part in parts}[name] == hours * HOUR_S
        assert sum(part.seconds for part in parts) == 48 * HOUR_S


def test_nothing_is_counted_backwards_and_a_jump_of_centuries_ends() -> None:
    assert by_day(100.0, 100.0) == by_day(100.0, 50.0) == []
    assert sum(part.seconds for part in by_day(0.0, 1e11)) == pytest.approx(LONGEST_S)
