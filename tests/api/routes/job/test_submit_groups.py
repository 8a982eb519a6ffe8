"""Submits of groups, and output files that are named after ids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.api.served import Served

NOTHING: dict[str, Any] = {"command": ["true"], "gpus": 0}


def test_an_array_of_any_indices_is_one_small_request(api: Served) -> None:
    ids = api.ids(
        {"shell": "echo $TARMAC_ARRAY_INDEX of $TARMAC_ARRAY_COUNT", "gpus": 0},
        group={"kind": "array", "indices": "3-7:2,20"},
    )
    for job, index in zip(ids, (3, 5, 7, 20), strict=True):
        seen = api.until(job, "succeeded")
        assert (seen["group"], seen["index"]) == (ids[0], index)
        assert Path(seen["log_path"]).read_text() == f"{index} of 4\n"


def test_output_files_are_named_after_the_ids_that_the_jobs_get(api: Served, tmp_path: Path) -> None:
    """Other submits come in between, so the first guess of the ids is often wrong."""

    def submit(number: int) -> list[int]:
        job = {
            "shell": f"echo {number}",
            "gpus": 0,
            "name": "n",
            "fill_paths": True,
            "log": f"{tmp_path}/{{name}}-{{id}}",
        }
        return api.ids(job, job) if number % 2 else api.ids(NOTHING)

    with ThreadPoolExecutor(4) as pool:
        submits = list(pool.map(submit, range(12)))
    for number, ids in enumerate(submits):
        for job in ids if number % 2 else ():
            seen = api.until(job, "succeeded")
            assert seen["log_path"] == f"{tmp_path}/n-{job}"
            assert Path(seen["log_path"]).read_text() == f"{number}\n"


def test_the_checks_of_output_files_hold_for_templates(api: Served, tmp_path: Path) -> None:
    template = {**NOTHING, "fill_paths": True}
    status, answer = api.submit({**template, "log": f"{tmp_path}/no/{{id}}"})
    assert (status, "does not exist" in answer["error"]["message"]) == (400, True)
    status, answer = api.submit(
        {**template, "log": f"{tmp_path}/x{{index}}"}, group={"kind": "array", "indices": "1-2"}
    )
    assert status == 201
    status, answer = api.submit({**template, "log": f"{tmp_path}/same"}, group={"kind": "array", "indices": "1-2"})
    assert (status, "same" in answer["error"]["message"]) == (400, True)
    (taken,) = api.ids({"command": ["sleep", "60"], "gpus": 0, "log": f"{tmp_path}/y9"})
    status, answer = api.submit({**template, "log": f"{tmp_path}/y{{index}}"}, group={"kind": "array", "indices": "9"})
    assert (status, f"job {taken}" in answer["error"]["message"]) == (400, True)


def test_params_are_shown_in_their_order(api: Served) -> None:
    (job,) = api.ids({**NOTHING, "params": {"lr": "1e-3", "a": "{x} \n"}}, group={"kind": "sweep"})
    _, seen = api.ask("GET", f"/jobs/{job}")
    assert list(seen["params"].items()) == [("lr", "1e-3"), ("a", "{x} \n")]
    _, listed = api.ask("GET", f"/jobs?ids={job}")
    assert listed["jobs"][0]["params"] == seen["params"]


@pytest.mark.parametrize(
    ("group", "says"),
    [
        ({"kind": "array", "indices": "5-1"}, "write 1-5"),
        ({"kind": "sweep", "indices": "1-5"}, "has no indices"),
        ({"kind": "list"}, "kind"),
        ({"kind": "array", "index": "1"}, "index"),
    ],
)
def test_a_wrong_group_is_refused(api: Served, group: dict[str, Any], says: str) -> None:
    status, answer = api.submit(NOTHING, group=group)
    assert status == 400
    assert says in answer["error"]["message"] + (answer["error"]["hint"] or "")
