"""Which rows a sweep has: product, zip, files, conditions and samples."""

from __future__ import annotations

import pytest

from tarmac.errors import UserError
from tarmac.typed.sweep.grid import Grid, selected
from tarmac.typed.sweep.parameters import read_parameters


def rows(*words: str, listed: tuple[dict[str, str], ...] = ({},), is_zipped: bool = False) -> list[str]:
    grid = Grid(read_parameters(words), listed, is_zipped=is_zipped)
    assert grid.count == len(list(grid))
    return ["".join(row.values()) for row in grid]


def test_the_last_parameter_changes_fastest() -> None:
    assert rows("a=1,2", "b=x,y,z") == ["1x", "1y", "1z", "2x", "2y", "2z"]


def test_zip_takes_the_first_values_then_the_second_ones() -> None:
    assert rows("a=1,2", "b=x,y", is_zipped=True) == ["1x", "2y"]


def test_rows_of_a_file_are_combined_with_parameters() -> None:
    assert rows("b=x,y", listed=({"a": "1"}, {"a": "2"})) == ["1x", "1y", "2x", "2y"]
    assert rows(listed=({"a": "1"}, {"a": "2"})) == ["1", "2"]


def test_zip_combines_each_row_of_a_file_with_one_value() -> None:
    listed = ({"a": "1"}, {"a": "2"})
    assert rows("b=x,y", "c=p,q", listed=listed, is_zipped=True) == ["1xp", "2yq"]
    assert rows(listed=listed, is_zipped=True) == ["1", "2"]
    for values in ("b=x", "b=x,y,z"):
        with pytest.raises(UserError, match="the file has 2 rows and b has"):
            rows(values, listed=listed, is_zipped=True)


def test_zip_refuses_lists_of_different_lengths() -> None:
    with pytest.raises(UserError, match="a has 2 values and b has 3"):
        rows("a=1,2", "b=1,2,3", is_zipped=True)


def test_a_sample_is_the_same_for_the_same_seed_and_keeps_the_order() -> None:
    grid = Grid(read_parameters(["a=1..1000"]))
    first = selected(grid, None, 20, 7)
    assert first == selected(grid, None, 20, 7)
    assert first != selected(grid, None, 20, 8)
    assert [int(row["a"]) for row in first] == sorted(int(row["a"]) for row in first)
    assert len({row["a"] for row in first}) == 20
    assert len(selected(grid, None, 5000, 7)) == 1000


def test_a_sample_of_billions_is_drawn_at_once() -> None:
    names = [f"p{number}=1..1000" for number in range(5)]
    assert len(selected(Grid(read_parameters(names)), None, 3, 1)) == 3


def test_a_sample_is_taken_of_what_meets_the_condition() -> None:
    grid = Grid(read_parameters(["a=1..100"]))
    assert {int(row["a"]) % 2 for row in selected(grid, lambda row: int(row["a"]) % 2 == 0, 10, 1)} == {0}


def test_too_many_jobs_are_refused_with_their_number() -> None:
    grid = Grid(read_parameters(["a=1..2000", "b=1..1000"]))
    with pytest.raises(UserError, match="2,000,000 jobs; the limit is 1,000,000"):
        selected(grid, None, None, 0)


def test_a_condition_that_nothing_meets_is_refused() -> None:
    with pytest.raises(UserError, match="excludes all 2 combinations"):
        selected(Grid(read_parameters(["a=1,2"])), lambda _: False, None, 0)
