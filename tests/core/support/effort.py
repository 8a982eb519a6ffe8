"""How hard Hypothesis tries: little by default, a lot with TARMAC_HYPOTHESIS=deep.

In CI, the examples are the same in every run: what fails there can be repeated, and is due to the change under test.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_IS_DEEP = os.environ.get("TARMAC_HYPOTHESIS") == "deep"
_IS_REPEATABLE = os.environ.get("CI") == "true" and not _IS_DEEP

HISTORIES = settings(
    max_examples=5000 if _IS_DEEP else 300,
    stateful_step_count=120 if _IS_DEEP else 80,
    deadline=None,  # no test asserts a time
    derandomize=_IS_REPEATABLE,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def tries(count: int) -> settings:
    """The number of examples of a property; a hundred times as many in deep mode."""
    return settings(
        max_examples=count * (100 if _IS_DEEP else 1),
        deadline=None,
        derandomize=_IS_REPEATABLE,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
