"""Several jobs take one place and the following ones, in their order."""

import itertools

import pytest

from tarmac.controller.requests.moves import _of_line, moves
from tarmac.core.model.ids import JobId
from tarmac.core.model.rules import Rules
from tests.core.support.builders import a_job, a_state

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


def test_under_another_order_jobs_that_have_their_place_are_moved_there() -> None:
    state = a_state(jobs=tuple(a_job(number) for number in LINE))
    chosen = [JobId(1), JobId(2), JobId(5)]
    assert dict(moves(state, chosen, 1)) == {5: 3}
    state.rules = Rules(order="expected")
    assert dict(moves(state, chosen, 1)) == {5: 3, 1: 1, 2: 2}


class CountingId(int):
    """A job id that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountingId.compared += 1
        return int(self) == other

    def __hash__(self) -> int:
        return hash(int(self))


def test_the_cost_does_not_grow_with_the_chosen_jobs_times_the_queue() -> None:
    line = [JobId(CountingId(number)) for number in range(2000)]
    CountingId.compared = 0
    assert len(list(_of_line(line, set(line[1000:]), 1))) == 1000
    assert CountingId.compared < 10 * len(line)


def test_only_lines_with_a_chosen_job_are_looked_at() -> None:
    jobs = [a_job(number, owner="ann" if number % 2 else "bob") for number in range(1, 11)]
    chosen = [JobId(9), JobId(99)]  # the second was removed
    assert list(moves(a_state(jobs=tuple(jobs)), chosen, 1)) == [(JobId(9), 1)]
