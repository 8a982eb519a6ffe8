"""Paths of --fetch: all are in the directory of the job."""

import pytest

from tarmac.controller.submit.checks import refuse_bad_fetch
from tarmac.refusal import Refused


@pytest.mark.parametrize("path", ["", "/etc", "..", "a/../../b", "a\0b"])
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(Refused):
        refuse_bad_fetch(["results", path])


def test_paths_in_the_directory_are_taken() -> None:
    refuse_bad_fetch([".", "results", "a/b.txt", "..a"])
