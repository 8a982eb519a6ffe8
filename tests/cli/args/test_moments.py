import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.cli.args.moments import in_words, length, moment

NOW = 1_800_000_000.0  # Friday 2027-01-15 09:00 in Berlin
DAY = 86400


@pytest.fixture(autouse=True, scope="module")
def in_berlin() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


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
def test_a_length_of_time_may_be_written_in_many_ways(word: str, seconds: float) -> None:
    assert length(word) == seconds


@pytest.mark.parametrize("word", ["90", " 6 "])
def test_a_bare_number_is_asked_for_its_unit(word: str) -> None:
    with pytest.raises(ValueError, match=f"which unit\\? {word.strip()}m is minutes"):
        length(word)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "length of time"),
        ("soon", "length of time"),
        ("6x", "length of time"),
        ("h", "length of time"),
        ("-6h", "length of time"),
        ("1e3h", "length of time"),
        ("1..5h", "length of time"),
        ("1:75", "length of time"),
        ("1-24:00:00", "length of time"),
        ("1:2:3:4", "length of time"),
        ("²h", "length of time"),
        ("0s", "more than nothing"),
        ("0:00", "more than nothing"),
        ("99999d", "too long"),
    ],
)
def test_what_is_no_length_of_time_is_refused(word: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        length(word)


@pytest.mark.parametrize(
    ("word", "local"),
    [
        ("22:00", "2027-01-15 22:00:00"),
        ("9:30", "2027-01-15 09:30:00"),
        ("8:59", "2027-01-16 08:59:00"),
        ("9:00", "2027-01-16 09:00:00"),
        ("22:00:30", "2027-01-15 22:00:30"),
        ("in 3h", "2027-01-15 12:00:00"),
        ("in 90 minutes", "2027-01-15 10:30:00"),
        ("+1-12", "2027-01-16 21:00:00"),
        ("today 10:00", "2027-01-15 10:00:00"),
        ("tomorrow 9:00", "2027-01-16 09:00:00"),
        ("tomorrow at 9:00", "2027-01-16 09:00:00"),
        ("Fri 18:00", "2027-01-15 18:00:00"),
        ("friday 8:00", "2027-01-22 08:00:00"),
        ("mon 9:00", "2027-01-18 09:00:00"),
        ("2027-02-01", "2027-02-01 00:00:00"),
        ("2027-02-01T07:30", "2027-02-01 07:30:00"),
        ("2027-02-01 07:30:15", "2027-02-01 07:30:15"),
        ("2027-02-01T07:30Z", "2027-02-01 08:30:00"),
        ("2027-07-01T07:30+00:00", "2027-07-01 09:30:00"),
        ("now", "2027-01-15 09:00:00"),
    ],
)
def test_a_moment_is_the_next_such_in_local_time(word: str, local: str) -> None:
    assert time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment(word, NOW))) == local


def test_a_time_of_day_stays_the_same_over_a_change_of_the_clocks() -> None:
    evening_before = moment("2027-03-27 20:00", NOW)
    assert moment("9:00", evening_before) - evening_before == 12 * 3600  # an hour is missing that night


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("today 8:00", "that was 1h00m ago \\(08:00\\)"),
        ("2027-01-14T09:00", "that was 1d00h ago \\(2027-01-14 09:00\\)"),
        ("tomorrow", "tomorrow at what time\\? 'tomorrow 9:00'"),
        ("mon", "mon at what time"),
        ("in 3", "which unit"),
        ("in a while", "length of time"),
        ("24:00", "moment to come"),
        ("9", "moment to come"),
        ("2027-02-30", "moment to come"),
        ("", "moment to come"),
        ("3000-01-01", "too far"),
    ],
)
def test_what_is_past_or_no_moment_is_refused_in_words(word: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        moment(word, NOW)


@pytest.mark.parametrize(
    ("after_s", "words"),
    [(3600, "10:00"), (DAY, "Sat 09:00"), (7 * DAY, "2027-01-22 09:00"), (-DAY, "2027-01-14 09:00")],
)
def test_a_moment_is_told_as_shortly_as_it_can_be(after_s: float, words: str) -> None:
    assert in_words(NOW + after_s, NOW) == words


@given(st.text(max_size=20))
def test_whatever_is_typed_is_read_or_refused(word: str) -> None:
    for read in (length, moment):
        with suppress(ValueError):
            assert read(word) > 0
