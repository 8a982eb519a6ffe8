"""Output files that are named after ids, names and indices."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tarmac.controller.submit.groups import plan_group
from tarmac.controller.submit.paths.path_templates import refuse_bad_templates, with_paths
from tarmac.controller.submit.request import SubmitRequest
from tarmac.refusal import Refused
from tests.core.support.builders import a_spec


def a_submit(*jobs: dict[str, Any], **more: Any) -> SubmitRequest:
    whole = [{"command": ["true"], "fill_paths": True, **job} for job in jobs]
    return msgspec.convert({"jobs": whole, "cwd": "/", **more}, SubmitRequest)


def test_each_job_gets_its_own_files() -> None:
    submit = a_submit({}, {"fill_paths": False})
    one, other = a_spec(stdout="/{id}-{{x}}-{name}", stderr="/e{id}", name="n"), a_spec(stdout="/{id}")
    first, second = with_paths((one, other), submit.jobs, None, 7)
    assert (first.stdout, first.stderr) == ("/7-{x}-n", "/e7")
    assert second.stdout == "/{id}"


@pytest.mark.parametrize(
    ("name", "file"), [("../../evil", ".._.._evil"), ("/etc/x", "_etc_x"), ("..", "__"), (".", "_")]
)
def test_a_name_does_not_leave_the_directory(name: str, file: str) -> None:
    [found] = with_paths((a_spec(stdout="/out/{name}/log", name=name),), a_submit({}).jobs, None, 7)
    assert found.stdout == f"/out/{file}/log"


def test_the_jobs_of_an_array_are_named_after_their_indices() -> None:
    submit = a_submit({}, group={"kind": "array", "indices": "3,5"})
    plan = plan_group(submit)
    assert plan is not None
    specs = with_paths(plan.specs_of((a_spec(stdout="/{index}-{id}"),)), submit.jobs, plan, 7)
    assert [spec.stdout for spec in specs] == ["/3-7", "/5-8"]


@pytest.mark.parametrize(
    ("job", "key"),
    [
        ({"log": "/{name}"}, "submit.path_placeholder"),
        ({"stdout": "/{index}"}, "submit.path_placeholder"),
        ({"stderr": "/{lr}", "name": "n"}, "submit.path_placeholder"),
        ({"log": "/{"}, "submit.path_single_brace"),
    ],
)
def test_what_is_not_known_of_a_job_is_refused(job: dict[str, Any], key: str) -> None:
    submit = a_submit(job)
    with pytest.raises(Refused, match=key):
        refuse_bad_templates(submit.jobs[0], submit.group)


def test_paths_that_are_not_templates_may_contain_anything() -> None:
    job = {"log": "/{x", "fill_paths": False}
    refuse_bad_templates(a_submit(job).jobs[0], None)
    with pytest.raises(Refused):
        refuse_bad_templates(a_submit({**job, "fill_paths": True}).jobs[0], None)
