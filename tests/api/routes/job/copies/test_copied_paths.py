"""Copies of jobs whose output files are named after ids, names or indices: each copy has its own files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.served import Served

TEMPLATE: dict[str, Any] = {"command": ["true"], "gpus": 0, "name": "n", "fill_paths": True}


def copies(api: Served, *numbers: int, **more: Any) -> list[dict[str, Any]]:
    status, answer = api.ask("POST", "/jobs/clone", {"ids": list(map(str, numbers)), "entry": "held", **more})
    assert status == 201, answer
    return [api.ask("GET", f"/jobs/{number}")[1] for number in answer["ids"]]


@pytest.mark.parametrize("is_rerun", [True, False])
def test_a_copy_and_its_copy_are_named_after_their_ids(api: Served, tmp_path: Path, is_rerun: bool) -> None:
    (job,) = api.ids({**TEMPLATE, "stdout": f"{tmp_path}/{{name}}-{{id}}", "stderr": f"{tmp_path}/e{{id}}{{{{"})
    api.until(job, "succeeded")
    (copy,) = copies(api, job, rerun=is_rerun)
    assert (copy["stdout_path"], copy["stderr_path"]) == (f"{tmp_path}/n-{copy['id']}", f"{tmp_path}/e{copy['id']}{{")
    (again,) = copies(api, copy["id"], rerun=is_rerun)
    assert again["stdout_path"] == f"{tmp_path}/n-{again['id']}"


def test_changes_of_a_copy_count(api: Served, tmp_path: Path) -> None:
    (job,) = api.ids({**TEMPLATE, "log": f"{tmp_path}/{{name}}-{{id}}"}, entry="held")
    (named,) = copies(api, job, changes={"name": "other"})
    assert named["stdout_path"] == f"{tmp_path}/other-{named['id']}"
    (moved,) = copies(api, job, changes={"log": f"{tmp_path}/fixed"})
    assert moved["stdout_path"] == f"{tmp_path}/fixed"
    (new,) = copies(api, job, changes={"log": f"{tmp_path}/x{{id}}", "fill_paths": True})
    (of_new,) = copies(api, new["id"])
    assert of_new["stdout_path"] == f"{tmp_path}/x{of_new['id']}"
    refused = api.ask("POST", "/jobs/clone", {"ids": [str(moved["id"])], "entry": "held"})
    assert refused[0] == 400  # the path has no placeholder, so both would write to it


def test_an_edit_replaces_the_template(api: Served, tmp_path: Path) -> None:
    (job,) = api.ids({**TEMPLATE, "log": f"{tmp_path}/a{{id}}"}, entry="held")
    assert api.ask("PATCH", f"/jobs/{job}", {"log": f"{tmp_path}/b{{id}}", "fill_paths": True})[0] == 200
    (copy,) = copies(api, job)
    assert copy["stdout_path"] == f"{tmp_path}/b{copy['id']}"
    assert api.ask("PATCH", f"/jobs/{job}", {"log": None})[0] == 200
    (plain,) = copies(api, job)
    assert not plain["stdout_path"].startswith(str(tmp_path))


def test_the_jobs_of_an_array_keep_their_indices(api: Served, tmp_path: Path) -> None:
    ids = api.ids(
        {**TEMPLATE, "log": f"{tmp_path}/{{index}}-{{id}}"}, group={"kind": "array", "indices": "3,5"}, entry="held"
    )
    found = copies(api, *ids)
    assert [one["stdout_path"] for one in found] == [
        f"{tmp_path}/{index}-{one['id']}" for index, one in zip((3, 5), found, strict=True)
    ]


def test_copies_at_once_are_named_after_the_ids_that_they_get(api: Served, tmp_path: Path) -> None:
    (job,) = api.ids({**TEMPLATE, "log": f"{tmp_path}/{{id}}"}, entry="held")
    with ThreadPoolExecutor(4) as pool:
        found = [one for some in pool.map(lambda _: copies(api, job), range(8)) for one in some]
    assert [one["stdout_path"] for one in found] == [f"{tmp_path}/{one['id']}" for one in found]
