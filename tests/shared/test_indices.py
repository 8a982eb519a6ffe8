"""The indices of an array: ranges, steps, lists, and what is refused."""

from __future__ import annotations

import pytest

from tarmac.shared.indices import parse_indices


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("0-3", [0, 1, 2, 3]),
        ("7", [7]),
        ("1-10:2", [1, 3, 5, 7, 9]),
        ("5,1,3", [5, 1, 3]),
        ("0-2, 10-20:5", [0, 1, 2, 10, 15, 20]),
        ("0-8:2,1-9:2", [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]),
    ],
)
def test_ranges_steps_and_lists_are_read_in_their_order(text: str, indices: list[int]) -> None:
    assert [index for span in parse_indices(text) for index in span] == indices


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it must be indices"),
        ("a-b", "it must be indices"),
        ("-3", "it must be indices"),
        ("1-", "it must be indices"),
        ("1,,2", "it must be indices"),
        ("٣", "it must be indices"),
        ("1-9:0", "must be 1 or more"),
        ("9-1", "write 1-9"),
        ("1-5,5-9", "index 5 is given twice"),
        ("0-9,3", "index 3 is given twice"),
        ("0-1000000", "1,000,001 indices; the limit is 1,000,000"),
        ("99999999999999999999999999", "at most"),
    ],
)
def test_text_that_is_not_a_list_of_indices_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_indices(text)
