"""The group that a submit asks for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tarmac.controller.submit.groups import GroupPlan, plan_group
from tarmac.controller.submit.request import SubmitRequest
from tarmac.refusal import Refused
from tests.core.support.builders import a_spec


def planned(*jobs: dict[str, Any], **group: Any) -> GroupPlan:
    plan = plan_group(msgspec.convert({"jobs": list(jobs), "cwd": "/", "group": group}, SubmitRequest))
    assert plan is not None
    return plan


def test_one_job_is_queued_for_each_index_and_all_share_one_spec() -> None:
    plan, spec = planned({"command": ["true"]}, kind="array", indices="1-5:2,9"), a_spec()
    assert plan.indices == (1, 3, 5, 9)
    assert plan.array_count == plan.count == 4
    assert {id(one) for one in plan.specs_of((spec,))} == {id(spec)}


def test_jobs_of_an_array_with_output_files_have_a_spec_each() -> None:
    specs = planned({"command": ["true"]}, kind="array", indices="0-1").specs_of((a_spec(stdout="/tmp/x"),))
    assert specs[0] == specs[1]
    assert specs[0] is not specs[1]


def test_the_jobs_of_a_sweep_stay_as_they_are() -> None:
    plan = planned({"command": ["a"], "params": {"lr": "1"}}, {"command": ["b"]}, kind="sweep", command="x {lr}")
    specs = (a_spec(), a_spec(name="other"))
    assert plan.specs_of(specs) is specs
    assert (plan.indices, plan.count, plan.array_count) == ((), 2, None)
    group = plan.stored(7, "ann", 1.0)
    assert (group.span, group.params, group.command) == (range(7, 9), ("lr",), "x {lr}")


@pytest.mark.parametrize(
    ("jobs", "group", "key"),
    [
        (1, {"kind": "sweep", "indices": "0-1"}, "group.indices_of_other"),
        (2, {"kind": "array", "indices": "0-1"}, "group.indices_of_many"),
        (1, {"kind": "array", "indices": "1-0"}, "group.bad_indices"),
    ],
)
def test_indices_that_do_not_suit_the_submit_are_refused(jobs: int, group: dict[str, Any], key: str) -> None:
    with pytest.raises(Refused, match=key):
        planned(*[{"command": ["true"]}] * jobs, **group)
