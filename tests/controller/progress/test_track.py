"""Several readings of one attempt: which bars tell when it ends."""

import pytest

from tarmac.controller.progress.parser import Progress
from tarmac.controller.progress.track import LATE_S, Track, new_track


def track(*readings: tuple[float, float | None, float | None], has_older_output: bool = False) -> Track:
    """Readings are (moment, fraction, time left)."""
    (at, fraction, eta_s), *more = readings
    found = new_track(progress(fraction, eta_s), at, has_older_output=has_older_output)
    for at, fraction, eta_s in more:
        found.note(progress(fraction, eta_s), at)
    return found


def progress(fraction: float | None, eta_s: float | None) -> Progress | None:
    return None if fraction is None else Progress(fraction=fraction, eta_s=eta_s)


def test_a_bar_tells_how_much_time_is_left() -> None:
    assert track((0.0, 0.5, 600.0)).left_s(0.0) == 600.0
    assert track((0.0, 0.5, 600.0)).left_s(100.0) == 500.0
    assert track((0.0, 0.5, 600.0), (100.0, 0.6, 450.0)).left_s(100.0) == 450.0
    assert track((0.0, 0.5, 600.0), (100.0, None, None)).left_s(100.0) is None, "other output followed"


@pytest.mark.parametrize(("fraction", "eta_s"), [(0.0, 600.0), (0.5, None), (1.0, None), (None, None)])
def test_one_reading_may_not_tell_the_end(fraction: float | None, eta_s: float | None) -> None:
    assert track((0.0, fraction, eta_s)).left_s(0.0) is None


def test_a_bar_that_stands_still_does_not_put_the_end_off() -> None:
    still = track(*((float(at), 0.5, 600.0) for at in range(0, 500, 50)))
    assert still.left_s(500.0) == 100.0
    assert still.left_s(600.0 + LATE_S) == -LATE_S, "it may be about to end"
    assert still.left_s(601.0 + LATE_S) is None, "it was wrong"


def epochs(count: int, length_s: float, every_s: float) -> list[tuple[float, float, float]]:
    """A new bar for each epoch, as `for epoch in …: for batch in tqdm(…)` prints them."""
    moments = [every_s * number + 1.0 for number in range(int(count * length_s / every_s))]
    return [(at, (at % length_s) / length_s, length_s - at % length_s) for at in moments]


@pytest.mark.parametrize("every_s", [7.0, 30.0, 95.0])
def test_bars_that_count_epochs_do_not_tell_the_end_of_the_job(every_s: float) -> None:
    readings = epochs(20, 300.0, every_s)
    seen = [track(*readings[: count + 1]).left_s(readings[count][0]) for count in range(len(readings))]
    first = sum(at < 300.0 for at, _, _ in readings)
    assert all(left is not None for left in seen[:first]), "nobody can know yet"
    assert all(left is None for left in seen[first:])


def test_the_bar_that_follows_short_ones_is_believed_in_time() -> None:
    loading = [(0.0, 0.5, 5.0), (10.0, 0.1, 30.0), (40.0, 0.9, 3.0)]
    training = [(50.0, 0.01, 6000.0), (80.0, 0.015, 5970.0), (110.0, 0.02, 5940.0), (300.0, 0.05, 5700.0)]
    seen = [track(*loading, *training[:count]).left_s(training[count - 1][0]) for count in range(1, 5)]
    assert seen == [None, None, None, 5700.0]


def test_processes_that_print_the_same_bar_are_not_new_bars() -> None:
    mixed = track((0.0, 0.02, 900.0), (10.0, 0.0, 900.0), (20.0, 0.5, 400.0), (30.0, 0.48, 410.0), (40.0, 0.52, 390.0))
    assert mixed.left_s(40.0) == 390.0


def test_a_counter_tells_the_end_by_its_pace() -> None:
    """Between the changes that were seen: the first reading may be in the middle of a step."""
    counter = [(0.0, 0.5, None), (90.0, 0.5, None), (100.0, 0.6, None)]
    assert track(*counter).left_s(100.0) is None, "one change has no pace"
    assert track(*counter, (300.0, 0.7, None)).left_s(300.0) == pytest.approx(600.0)
    assert track(*counter, (300.0, 0.7, None), (350.0, 0.7, None)).left_s(350.0) == pytest.approx(550.0)
    assert track(*counter, (300.0, 1.0, None)).left_s(300.0) is None


def test_a_counter_that_begins_anew_has_another_pace() -> None:
    counter = [(0.0, 0.1, None), (10.0, 0.5, None), (20.0, 0.9, None), (30.0, 0.0, None)]
    assert track(*counter).left_s(30.0) is None
    later = [(130.0, 0.1, None), (230.0, 0.2, None)]
    assert track(*counter, *later).left_s(230.0) == pytest.approx(800.0)


def test_a_bar_that_another_attempt_left_says_nothing() -> None:
    assert track((0.0, 0.9, 60.0), (30.0, 0.9, 60.0), has_older_output=True).left_s(30.0) is None
    assert track((0.0, 0.9, 60.0), (30.0, 0.01, 900.0), has_older_output=True).left_s(30.0) == 900.0
    assert track((0.0, None, None), (30.0, 0.01, 900.0), has_older_output=True).left_s(30.0) == 900.0
