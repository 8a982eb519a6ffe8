"""Refusals of several jobs of a submit: all of them are reported, not only the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.refusal import Refused, RefusedJobs

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_REFUSED = 1000  # more are not looked for


def refusal_of(refused: Mapping[int, Refused], jobs: int) -> Refused:
    """The refusal of a submit with this number of jobs. A single job needs no list."""
    return RefusedJobs(refused) if jobs > 1 else next(iter(refused.values()))
