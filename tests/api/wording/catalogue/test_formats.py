"""How values are written into messages."""

from __future__ import annotations

import pytest

from tarmac.api.wording.catalogue.catalogue import render
from tarmac.api.wording.catalogue.formats import either


@pytest.mark.parametrize(
    ("values", "words"),
    [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")],
)
def test_choices_are_separated_by_commas_and_a_last_or(values: list[str], words: str) -> None:
    assert either(values, "") == words


@pytest.mark.parametrize(("last", "hint"), [(None, "use #0"), (2, "use #0 to #2")])
def test_the_jobs_of_a_submit_are_named_as_a_range_only_if_there_are_several(last: int | None, hint: str) -> None:
    assert render("after.unknown_sibling", word="#7", last=last).hint == hint
