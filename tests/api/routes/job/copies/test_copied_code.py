"""Which code the copies of jobs run, as a request says it."""

from typing import Any

import pytest

from tests.api.routes.test_snapshots import submit, upload
from tests.api.served import Served


def clone(api: Served, *ids: int, **more: object) -> tuple[int, Any]:
    return api.ask("POST", "/jobs/clone", {"ids": [str(job) for job in ids], "entry": "held", **more})


def snapshot(api: Served, job: int) -> Any:
    return api.ask("GET", f"/jobs/{job}")[1]["snapshot"]


def frozen(api: Served, tree: str) -> int:
    _, answer = submit(api, 0, {"tree": tree, "root": "/old"}, entry="held")
    (job,) = answer["ids"]  # type: ignore[misc]
    return int(job)


def test_a_copy_runs_the_snapshot_of_its_original_a_new_one_or_none(api: Served) -> None:
    old, new, other = (upload(api, code=text) for text in (b"old", b"new", b"other"))
    first, second = frozen(api, old), frozen(api, old)
    (kept,) = clone(api, first)[1]["ids"]
    assert snapshot(api, kept)["tree"] == old
    (none,) = clone(api, first, snapshot=False)[1]["ids"]
    assert snapshot(api, none) is None
    snapshots = [{"tree": new, "root": "/new"}, {"tree": other, "root": "/other"}]
    status, answer = clone(api, first, second, snapshots=snapshots, snapshot={str(first): 1, str(second): 0})
    assert status == 201
    assert [snapshot(api, job)["tree"] for job in answer["ids"]] == [other, new]
    assert [snapshot(api, job)["root"] for job in answer["ids"]] == ["/other", "/new"]
    assert snapshot(api, first)["tree"] == old
    (again,) = clone(api, none, snapshots=snapshots, snapshot={str(none): 0})[1]["ids"]
    assert snapshot(api, again)["tree"] == new


@pytest.mark.parametrize(
    ("change", "status", "key"),
    [
        ({"snapshot": True}, 400, "snapshot.not_for_each"),
        ({"snapshot": {}}, 400, "snapshot.not_for_each"),
        ({"snapshot": {"JOB": 0, "999": 0}}, 400, "snapshot.not_for_each"),
        ({"snapshot": None}, 400, "snapshot.unused"),
        ({"snapshot": False}, 400, "snapshot.unused"),
        ({"snapshot": {"JOB": 1}}, 400, "snapshot.no_such_index"),
        ({"snapshots": [{"tree": "ab" * 32, "root": "/x"}]}, 409, "snapshot.unknown"),
        ({"snapshots": [{"tree": "ab" * 32, "root": "x"}]}, 400, "snapshot.root_not_absolute"),
    ],
)
def test_contradictions_and_unknown_trees_are_refused(
    api: Served, change: dict[str, Any], status: int, key: str
) -> None:
    tree = upload(api, code=b"x")
    job = frozen(api, tree)
    body: dict[str, Any] = {"snapshots": [{"tree": tree, "root": "/x"}], "snapshot": {"JOB": 0}, **change}
    if isinstance(body["snapshot"], dict):
        body["snapshot"] = {(str(job) if name == "JOB" else name): at for name, at in body["snapshot"].items()}
    refused, answer = clone(api, job, **body)
    assert (refused, answer["error"]["key"]) == (status, key)
