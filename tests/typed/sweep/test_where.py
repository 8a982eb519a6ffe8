"""`sweep --where`: what holds, what does not, and what is refused without being run."""

from __future__ import annotations

import pytest

from tarmac.errors import UserError
from tarmac.typed.sweep.where import condition

ROW = {"lr": "1e-3", "seed": "10", "opt": "adam", "none": "", "flag": "false"}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("lr < 1e-2", True),
        ("lr == 0.001", True),
        ("lr != .001", False),
        ("seed > 9", True),
        ("seed >= 10 and seed <= 10", True),
        ("1 < seed < 10", False),
        ("opt == 'adam' or lr > 1", True),
        ('opt != "adam"', False),
        ("opt < 'b'", True),
        ("not (seed == 10) or not lr == 1", True),
        ("seed in (1, 10)", True),
        ("seed in [1, 2,]", False),
        ("opt not in ('sgd', 'adam')", False),
        ("seed % 3 == 1 and seed / 4 == 2.5 and seed * 2 - 1 == 19 and -seed + 1 == -9", True),
        ("none == ''", True),
        ("none", False),
        ("flag", False),
        ("flag == false", True),
        ("opt", True),
        ("lr < 1 or opt > 1", True),  # the rest is not looked at
        ("not seed == 9 and not seed == 8", True),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    assert condition(text, list(ROW))(ROW) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sed == 1", "no parameter is named sed"),
        ("opt == adam", "no parameter is named adam"),
        ("__import__('os').system('x')", "no parameter is named __import__"),
        ("lr.real == 1", "cannot be read"),
        ("lr = 1", "cannot be read"),
        ("lr <", "is missing a value"),
        ("(lr < 1", "the end is there instead of"),
        ("lr < 1)", "is not expected here"),
        ("lr < 1 lr", "is not expected here"),
        ("", "is missing a value"),
        ("seed in 3", "must be a list in parentheses"),
        ("seed not 3", "is not expected here"),
        ("(" * 60 + "1" + ")" * 60, "too many levels"),
        ("not " * 60 + "1", "too many levels"),
        ("1x == 1", "cannot be read"),
    ],
)
def test_what_is_not_a_condition_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        condition(text, list(ROW))


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(UserError) as refused:
        condition("sead == 1", list(ROW))
    assert "did you mean seed?" in (refused.value.hint or "")


@pytest.mark.parametrize("text", ["opt < 1", "opt + 1 == 2", "seed / 0 == 1"])
def test_what_cannot_be_calculated_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"not a number|divides by 0"):
        condition(text, list(ROW))(ROW)


def test_long_chains_work_or_are_refused() -> None:
    row = {"x": "1"}
    assert condition(" or ".join(["x == 2"] * 5000 + ["x == 1"]), ["x"])(row)
    assert not condition(" and ".join(["x == 1"] * 5000 + ["x == 2"]), ["x"])(row)
    with pytest.raises(UserError, match="too long"):
        condition(f"x == {'+'.join('1' * 50000)}", ["x"])(row)
