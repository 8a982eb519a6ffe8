from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.cli.render.times import duration, epoch


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001  # UTC is added below
def test_epoch_agrees_with_the_standard_library(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    for text in (aware.isoformat(), aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")):
        assert epoch(text) == pytest.approx(datetime.fromisoformat(text).timestamp(), abs=1e-5)


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
def test_durations_stay_short(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
