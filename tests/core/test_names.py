"""The shared names match the types of the core."""

from typing import get_args

import pytest

from tarmac.core.model import names as types
from tarmac.core.model.status import STATUS_TYPES
from tarmac.shared import names


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (names.STATES, types.StateName),
        (names.ENTRIES, types.Entry),
        (names.TIERS, types.Tier),
        (names.FAILURES, types.Failure),
        (names.OUTCOMES, types.Outcome),
        (names.CONDITIONS, types.Condition),
        (names.POLICIES, types.Policy),
        (names.ACTIONS, types.Action),
    ],
)
def test_each_tuple_of_names_matches_its_type(words: tuple[str, ...], kind: object) -> None:
    assert words == get_args(kind)


def test_every_state_has_a_name() -> None:
    assert set(names.STATES) == set(STATUS_TYPES)
    assert set(names.ENDED) < set(names.STATES)
