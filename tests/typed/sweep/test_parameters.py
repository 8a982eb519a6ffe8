"""NAME=VALUES: lists, ranges, quotes, and what is refused."""

from __future__ import annotations

import pytest

from tarmac.errors import UserError
from tarmac.typed.sweep.parameters import read_parameters, values_of


@pytest.mark.parametrize(
    ("listed", "values"),
    [
        ("1e-3,3e-4", ["1e-3", "3e-4"]),
        ("1..5", ["1", "2", "3", "4", "5"]),
        ("5..1", ["5", "4", "3", "2", "1"]),
        ("-2..2..2", ["-2", "0", "2"]),
        ("0..1..0.25", ["0", "0.25", "0.5", "0.75", "1"]),
        ("1..0..0.5", ["1", "0.5", "0"]),
        ("1..0..-0.5", ["1", "0.5", "0"]),
        ("0.1..0.3..0.1", ["0.1", "0.2", "0.3"]),
        ("08..11", ["08", "09", "10", "11"]),
        ("1,4..6,9", ["1", "4", "5", "6", "9"]),
        (",--amp", ["", "--amp"]),
        ("", [""]),
        ('"a,b",c', ["a,b", "c"]),
        ('"say ""hi""",x', ['say "hi"', "x"]),
        ('a"b', ['a"b']),
        ('"1..5"', ["1..5"]),
        ("../data,a..b", ["../data", "a..b"]),
        ("ü 字,two\nlines", ["ü 字", "two\nlines"]),
    ],
)
def test_lists_and_ranges(listed: str, values: list[str]) -> None:
    assert values_of(listed) == values


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lr"], "is not a parameter"),
        (["--lr"], "is not a parameter"),
        (["l r=1"], "cannot be the name"),
        (["1x=1"], "cannot be the name"),
        (["id=1"], "cannot be named id"),
        (["name=1"], "cannot be named name"),
        (["lr=1", "lr=2"], "given twice"),
        (["lr=1,2,1"], "has the value 1 twice"),
        (["lr=0.1..0.5"], "needs a step"),
        (["lr=1..5..0"], "must not be 0"),
        (["lr=0..1..nan"], "nan is not a step"),
        (["lr=0..1.."], "is not a step"),
        (["lr=1..2..-1"], "the step -1 does not lead from 1 to 2"),
        (["lr=1..2..1..1"], "has more than"),
        (['lr="a'], "is not closed"),
        (['lr=b,"a"c'], "is not closed"),
        (["lr=1..9999999"], "9,999,999 values; the limit is 1,000,000"),
    ],
)
def test_what_is_refused(words: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        read_parameters(words)
