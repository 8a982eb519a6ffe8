"""What a planned start promises, and until when others may pass it."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.plan import VAGUE, PlannedStart, RestsOn
from tests.core.support.builders import BOX


def a_plan(*rests_on: RestsOn, **more: Any) -> PlannedStart:
    given: dict[str, Any] = {"at": 500.0, "gpus": frozenset({GpuUuid("box-0")}), "uses_host": False, **more}
    return PlannedStart(job=JobId(1), node=BOX, rests_on=frozenset(rests_on), **given)


@pytest.mark.parametrize(
    ("rests_on", "is_promise"),
    [
        ((), True),
        (("limit",), True),
        (("stop",), True),
        (("limit", "stop"), True),
        (("limit", "history"), False),
        (("history",), False),
        (("progress",), False),
        (("owner",), False),
        (("outlived",), False),
        (("guess",), False),
    ],
)
def test_a_plan_is_a_promise_if_it_rests_on_limits_and_stops_alone(
    rests_on: tuple[RestsOn, ...], is_promise: bool
) -> None:
    assert a_plan(*rests_on).is_promise is is_promise
    assert a_plan(*rests_on, is_overdue=True).is_promise is is_promise


@pytest.mark.parametrize("vague", sorted(VAGUE))
def test_people_are_not_told_a_vague_time(vague: RestsOn) -> None:
    assert a_plan(vague).shown_at is None
    assert a_plan(vague, "limit").shown_at is None
    assert a_plan(vague, is_overdue=True).shown_at is None


def test_people_are_told_a_time_that_rests_on_limits_stops_namesakes_or_progress() -> None:
    assert a_plan("limit", "stop", "history", "progress").shown_at == 500.0


def test_jobs_may_pass_until_the_planned_time_unless_the_gpus_may_come_free_at_any_moment() -> None:
    assert a_plan("limit").backfill_until == 500.0
    assert a_plan("limit", "stop").backfill_until is None
    assert a_plan(at=None).backfill_until is None
