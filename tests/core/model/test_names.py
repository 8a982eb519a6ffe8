"""Names that the core and the frames of agents have in common: the core does not import frames."""

from typing import Any, get_args

import pytest

from tarmac.core.model import names
from tarmac.shared.frames import reports


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(names.Outside, reports.Outside), (names.Loss, reports.Loss), (names.Memory, reports.Memory)],
)
def test_reports_use_the_names_of_the_core(ours: Any, theirs: Any) -> None:
    assert get_args(ours) == get_args(theirs) != ()
