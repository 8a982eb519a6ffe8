import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.shared.clocks import clock, epoch, local, parse_moment, parse_past

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
    assert time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(parse_moment(word, NOW))) == local


def test_a_time_of_day_stays_the_same_over_a_change_of_the_clocks() -> None:
    evening_before = parse_moment("2027-03-27 20:00", NOW)
    assert parse_moment("9:00", evening_before) - evening_before == 12 * 3600  # an hour is missing that night


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("today 8:00", "that was 1h00m ago \\(08:00\\)"),
        ("2027-01-14T09:00", "that was 1d00h ago \\(Thu 09:00\\)"),
        ("tomorrow", "tomorrow at what time\\? 'tomorrow 9:00'"),
        ("mon", "mon at what time"),
        ("in 3", "which unit"),
        ("in a while", "a duration"),
        ("24:00", "time in the future"),
        ("9", "time in the future"),
        ("2027-02-30", "time in the future"),
        ("", "time in the future"),
        ("3000-01-01", "too far"),
    ],
)
def test_a_time_in_the_past_or_without_a_moment_is_refused_with_words(word: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_moment(word, NOW)


@pytest.mark.parametrize(
    ("after_s", "words"),
    [
        (3600, "10:00"),
        (DAY, "Sat 09:00"),
        (7 * DAY, "2027-01-22 09:00"),
        (-DAY, "Thu 09:00"),
        (-7 * DAY, "2027-01-08 09:00"),
    ],
)
def test_a_clock_shows_the_day_only_where_it_is_another(after_s: float, words: str) -> None:
    assert clock(NOW + after_s, NOW) == words


def test_a_clock_may_be_that_of_another_zone() -> None:
    assert clock(NOW, NOW, time.gmtime) == "08:00"


def test_a_moment_on_the_wire_is_shown_in_local_time() -> None:
    assert local("2027-01-15T08:00:00.000Z") == "2027-01-15 09:00:00"


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001  # UTC is added below
def test_epoch_agrees_with_the_standard_library(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    for text in (aware.isoformat(), aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")):
        assert epoch(text) == pytest.approx(datetime.fromisoformat(text).timestamp(), abs=1e-5)


@given(st.text(max_size=20))
def test_any_text_is_a_moment_or_refused_with_a_message(word: str) -> None:
    with suppress(ValueError):
        assert parse_moment(word) > 0


@pytest.mark.parametrize(
    ("word", "local"),
    [
        ("30d", "2026-12-16 09:00:00"),
        ("90m", "2027-01-15 07:30:00"),
        ("2 days ago", "2027-01-13 09:00:00"),
        ("1h30m", "2027-01-15 07:30:00"),
        ("8:00", "2027-01-15 08:00:00"),
        ("9:01", "2027-01-14 09:01:00"),
        ("now", "2027-01-15 09:00:00"),
        ("today", "2027-01-15 00:00:00"),
        ("Yesterday", "2027-01-14 00:00:00"),
        ("mon", "2027-01-11 00:00:00"),
        ("friday", "2027-01-15 00:00:00"),
        ("2027-01-01", "2027-01-01 00:00:00"),
        ("2027-01-15T08:59", "2027-01-15 08:59:00"),
        ("2027-01-01 12:00", "2027-01-01 12:00:00"),
        ("2027-01-15T07:59Z", "2027-01-15 08:59:00"),
        ("99999d", "1970-01-01 01:00:00"),
    ],
)
def test_a_past_moment_is_the_last_such_in_local_time(word: str, local: str) -> None:
    assert time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(parse_past(word, NOW))) == local


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "it must be a time in the past, such as 30d"),
        ("soon", "it must be a time in the past"),
        ("7", "which unit?"),
        ("-3d", "it must be a time in the past"),
        ("2027-13-01", "it must be a time in the past"),
        ("2027-01-16", "that is in the future (Sat 00:00)"),
        ("3 parsecs", "it must be a duration"),
    ],
)
def test_what_is_not_past_is_refused_in_words(word: str, said: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse_past(word, NOW)
    assert said in str(refused.value)


@given(st.text(max_size=12))
def test_any_text_is_a_past_moment_or_refused_with_a_message(word: str) -> None:
    with suppress(ValueError):
        assert 0 <= parse_past(word, NOW) <= NOW
