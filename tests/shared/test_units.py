"""One grammar for sizes and durations, for every reader."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.shared.units import (
    duration,
    duration_words,
    jobs_named,
    parse_duration,
    parse_size,
    short_duration,
    size,
    typed_duration,
    typed_size,
)

DAY = 86400


@pytest.mark.parametrize(
    ("word", "seconds"),
    [
        ("6h", 21600),
        ("90m", 5400),
        ("45s", 45),
        ("2d", 2 * DAY),
        ("1w", 7 * DAY),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("1h 30min", 5400),
        ("2 days", 2 * DAY),
        ("90 minutes", 5400),
        ("6H", 21600),
        ("45:00", 2700),
        ("90:30", 5430),
        ("6:00:00", 21600),
        ("100:00:00", 360_000),
        ("1-12", 36 * 3600),
        ("1-12:30", 36 * 3600 + 1800),
        ("1-12:00:00", 36 * 3600),
    ],
)
def test_a_duration_may_be_written_in_many_ways(word: str, seconds: float) -> None:
    assert parse_duration(word) == seconds


@pytest.mark.parametrize("word", ["90", " 6 "])
def test_a_bare_number_is_asked_for_its_unit(word: str) -> None:
    with pytest.raises(ValueError, match=f"which unit\\? {word.strip()}m is minutes"):
        parse_duration(word)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "a duration"),
        ("soon", "a duration"),
        ("6x", "a duration"),
        ("h", "a duration"),
        ("-6h", "a duration"),
        ("1e3h", "a duration"),
        ("1..5h", "a duration"),
        ("1:75", "a duration"),
        ("1-24:00:00", "a duration"),
        ("1:2:3:4", "a duration"),
        ("²h", "a duration"),
        ("999999d", "too long"),
    ],
)
def test_what_is_not_a_duration_is_refused(word: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_duration(word)


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("8G", 8 << 30),
        ("8g", 8 << 30),
        ("8GB", 8 << 30),
        ("8GiB", 8 << 30),
        (" 8 GB ", 8 << 30),
        ("512M", 512 << 20),
        ("1.5T", 3 << 39),
        (".5G", 1 << 29),
        ("64K", 64 << 10),
        ("100B", 100),
        ("0", 0),
    ],
)
def test_a_size_may_be_written_in_many_ways(word: str, number: int) -> None:
    assert parse_size(word) == number


@pytest.mark.parametrize("word", ["", "G", "-8G", "8X", "8GG", "eight", "1e3G", "nanG", "9999999999T", "B8G"])
def test_what_is_not_a_size_is_refused(word: str) -> None:
    with pytest.raises(ValueError):
        parse_size(word)


def test_a_size_without_a_unit_is_asked_for_it() -> None:
    with pytest.raises(ValueError, match="which unit"):
        parse_size("8")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "0s"),
        (0.9, "0s"),
        (59, "59s"),
        (60, "1m00s"),
        (3599, "59m59s"),
        (3600, "1h00m"),
        (86400 * 3 + 7200, "3d02h"),
    ],
)
def test_a_duration_in_a_table_has_two_units(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (9.97 * 3600, "10h"),
        (None, "-"),
        (0, "0s"),
        (2.46, "2.5s"),
        (59, "59s"),
        (90, "1.5m"),
        (3600, "1h"),
        (40000, "11h"),
        (200000, "2.3d"),
    ],
)
def test_a_duration_in_statistics_has_two_digits(seconds: float | None, words: str):
    assert short_duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1.5, "1.5 s"), (90, "90 s"), (2700, "45 min"), (9000, "2 h 30 min"), (21600, "6 h"), (129600 * 2, "3 d")],
)
def test_a_duration_in_a_sentence_has_units_with_a_space(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0B"), (999, "999B"), (1000, "1.0K"), (24 << 30, "24.0G"), (150 << 20, "150M"), (None, "?")],
)
def test_a_size_in_a_table_has_one_decimal_below_a_hundred(count: int | None, shown: str) -> None:
    assert size(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (90, "90s"), (0.5, "0.5s"), (5400, "90m"), (7200, "2h"), (DAY, "1d")],
)
def test_a_typed_duration_is_exact(seconds: float, shown: str) -> None:
    assert typed_duration(seconds) == shown
    assert parse_duration(shown) == seconds


@pytest.mark.parametrize("count", [0, 1, 100, 1 << 10, 1536 << 20, 24 << 30, 3 << 39, 123_456_789, (1 << 30) + 1])
def test_a_typed_size_is_exact(count: int) -> None:
    assert parse_size(typed_size(count)) == count


@pytest.mark.parametrize(
    ("count", "shown"), [(24 << 30, "24G"), (1536 << 20, "1.5G"), (512 << 20, "512M"), (0, "0"), (100, "100B")]
)
def test_a_typed_size_is_short(count: int, shown: str) -> None:
    assert typed_size(count) == shown


def test_jobs_are_named_by_their_ids() -> None:
    assert (jobs_named([7]), jobs_named([9, 3, 4, 5])) == ("job 7", "jobs 3-5,9")


def test_a_bare_number_may_count_seconds() -> None:
    assert parse_duration("30", bare_is_seconds=True) == parse_duration("30s", bare_is_seconds=True) == 30


@given(st.integers(0, 10 * DAY), st.integers(0, 1 << 60))
def test_what_is_shown_as_typed_can_be_read_back(seconds: int, count: int) -> None:
    assert parse_duration(typed_duration(seconds)) == seconds
    assert parse_size(typed_size(count)) == count


@given(st.text(max_size=20))
def test_any_text_is_a_value_or_refused_with_a_message(word: str) -> None:
    for read in (parse_duration, parse_size):
        with suppress(ValueError):
            assert read(word) >= 0
