"""Several jobs take one place and the following ones, in their order."""

import itertools

import pytest

from tarmac.controller.moves import _of_line
from tarmac.core.model.ids import JobId

LINE = [JobId(number) for number in range(1, 7)]


def moved(line: list[JobId], chosen: set[JobId], position: int) -> list[int]:
    """Apply the moves one after the other, as the core does."""
    line = list(line)
    for job, place in _of_line(list(line), chosen, position):
        line.remove(job)
        line.insert(place - 1, job)
    return [int(job) for job in line]


@pytest.mark.parametrize("position", [1, 2, 3, 5, 6, 2**31])
def test_every_choice_ends_up_together_at_its_place(position: int) -> None:
    for size in range(1, len(LINE) + 1):
        for chosen in itertools.combinations(LINE, size):
            others = [int(job) for job in LINE if job not in chosen]
            at = min(position - 1, len(others))
            expected = [*others[:at], *map(int, chosen), *others[at:]]
            assert moved(LINE, set(chosen), position) == expected, (chosen, position)
