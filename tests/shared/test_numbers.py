import pytest

from tarmac.shared.numbers import LARGEST, whole_number


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("007", 7), (str(LARGEST), LARGEST), ("0" * 5000 + "1", 1), ("12", 12)]
)
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.0", " 1", "1_0", "٣", "²", str(LARGEST + 1), "9" * 5000, "x"])
def test_other_texts_are_not(text: str) -> None:
    assert whole_number(text) is None


def test_the_largest_number_may_be_lower() -> None:
    assert (whole_number("100", 100), whole_number("101", 100)) == (100, None)
