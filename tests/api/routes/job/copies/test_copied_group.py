"""Copies of the jobs of a group form a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.api.served import Served


def sweep(api: Served) -> list[int]:
    jobs = [{"command": ["echo", x], "gpus": 0, "params": {"x": x}, "max_running": 2} for x in "123"]
    return api.ids(*jobs, group={"kind": "sweep", "name": "sw", "command": "echo {x}"}, entry="held")


def groups(api: Served, number: int) -> dict[str, Any]:
    found: dict[str, Any] = api.ask("GET", f"/groups/{number}")[1]
    return found


@pytest.mark.parametrize("is_rerun", [True, False])
def test_a_copy_of_a_group_is_a_group_with_its_name_and_limit(api: Served, is_rerun: bool) -> None:
    old = sweep(api)
    _, answer = api.ask("POST", "/jobs/clone", {"group": str(old[0]), "rerun": is_rerun, "entry": "held"})
    new = answer["ids"]
    group = groups(api, new[0])
    assert (group["kind"], group["name"], group["command"], group["varies"]) == ("sweep", "sw", "echo {x}", "x=1,2,3")
    assert (group["count"], group["counts"]) == (3, {"held": 3})
    job = api.ask("GET", f"/jobs/{new[1]}")[1]
    assert (job["group"], job["max_running"], job["params"]) == (new[0], 2, {"x": "2"})


def test_a_copy_of_a_part_says_what_it_consists_of(api: Served) -> None:
    old = sweep(api)
    part = {"group": str(old[0]), "ids": [str(number) for number in old[1:]], "entry": "held"}
    _, answer = api.ask("POST", "/jobs/clone", part)
    assert groups(api, answer["ids"][0])["varies"] == "x=2,3"
    changes = {**part, "changes": {"command": ["true"], "max_running": 1, "name": "other"}}
    _, answer = api.ask("POST", "/jobs/clone", changes)
    group = groups(api, answer["ids"][0])
    assert group["name"] == "other"
    assert (group["command"], api.ask("GET", f"/jobs/{answer['ids'][0]}")[1]["max_running"]) == ("true", 1)


def test_a_copy_of_an_array_keeps_its_indices(api: Served) -> None:
    old = api.ids({"command": ["true"], "gpus": 0}, group={"kind": "array", "indices": "3-9:3"}, entry="held")
    part = {"group": str(old[0]), "ids": [str(old[0]), str(old[2])], "entry": "held"}
    new = api.ask("POST", "/jobs/clone", part)[1]["ids"]
    assert groups(api, new[0])["varies"] == "[3,9]"
    assert [api.ask("GET", f"/jobs/{number}")[1]["index"] for number in new] == [3, 9]


def test_copies_by_id_belong_to_no_group(api: Served) -> None:
    old = sweep(api)
    new = api.ask("POST", "/jobs/clone", {"ids": [str(old[0])], "entry": "held"})[1]["ids"]
    job = api.ask("GET", f"/jobs/{new[0]}")[1]
    assert (job["group"], job["max_running"]) == (None, None)
