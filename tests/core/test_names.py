"""The shared names match the types of the core."""

from typing import get_args

import pytest

from tarmac.core.model import names as types
from tarmac.core.model.status import STATUS_TYPES
from tarmac.shared import names
from tarmac.shared.frames import reports


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (names.TIERS, types.Tier),
        (names.CONDITIONS, types.Condition),
        (names.POLICIES, types.Policy),
        (names.ORDERS, types.Order),
        (names.PLACEMENTS, types.Placement),
        (names.RETRY_KINDS, types.RetryKind),
        (names.ON_OOM, types.OnOom),
    ],
)
def test_each_tuple_of_names_matches_its_type(words: tuple[str, ...], kind: object) -> None:
    assert words == get_args(kind)


@pytest.mark.parametrize("name", ["Outside", "Memory", "Loss"])
def test_reports_of_nodes_use_the_words_of_the_core(name: str) -> None:
    assert get_args(getattr(reports, name)) == get_args(getattr(types, name))


def test_every_state_has_a_name_in_one_of_the_groups() -> None:
    grouped = [*names.WAITING, *names.AT_WORK, *names.ENDED]
    assert sorted(grouped) == sorted(STATUS_TYPES) == sorted(get_args(types.StateName))
    assert get_args(types.Entry) == names.WAITING
