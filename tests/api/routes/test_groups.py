"""Groups: their counts, and every act on a whole group or a part of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.served import Served

WAITS: dict[str, Any] = {"command": ["true"], "gpus": 0}


def a_group(api: Served, count: int = 3, *, kind: str = "sweep", name: str | None = None, **job: Any) -> list[int]:
    jobs = [{**WAITS, **job, "params": {"x": str(number)}} for number in range(count)]
    return api.ids(*jobs, group={"kind": kind, "name": name, "command": "true {x}"}, entry="held")


def seen(api: Served, group: int | str) -> dict[str, Any]:
    status, answer = api.ask("GET", f"/groups?group={group}")
    assert status == 200, answer
    (found,) = answer["groups"]
    return found  # type: ignore[no-any-return]


def committed(api: Served, jobs: list[int]) -> None:
    """Wait until the ends of the jobs are on disk, where the counts are."""
    assert api.ask("GET", f"/jobs/wait?ids={jobs[0]}-{jobs[-1]}")[1]["pending"] == []


def test_a_group_has_counts_and_what_differs(api: Served) -> None:
    first, *_, last = a_group(api, 9, name="long")
    found = seen(api, first)
    assert (found["kind"], found["name"], found["count"], found["last"]) == ("sweep", "long", 9, last)
    assert (found["counts"], found["ended"]) == ({"held": 9}, 0)
    assert (found["params"], found["varies"], found["command"]) == (["x"], "x=0,1,2,3,…,8", "true {x}")
    assert api.ask("GET", f"/groups/{first}") == (200, found)


def test_a_group_is_found_by_its_id_its_name_and_as_the_last(api: Served) -> None:
    (older, *_), (newer, *_) = a_group(api, name="twice"), a_group(api, name="twice")
    assert [seen(api, word)["id"] for word in (older, "twice", "last")] == [older, newer, newer]


@pytest.mark.parametrize(
    ("word", "says"), [("oen-two", "the nearest name is one-two"), ("999999", "no group has the id")]
)
def test_an_unknown_group_is_refused_with_the_nearest_name(api: Served, word: str, says: str) -> None:
    a_group(api, name="one-two")
    status, answer = api.ask("POST", "/jobs/kill", {"group": word})
    assert status == 404
    assert says in answer["error"]["message"]


def test_the_id_of_another_job_is_refused_with_its_group(api: Served) -> None:
    first, second, _ = a_group(api)
    status, answer = api.ask("GET", f"/jobs?group={second}")
    assert (status, f"part of group {first}" in answer["error"]["message"]) == (404, True)


def test_active_and_ended_groups_are_listed_page_by_page(api: Served) -> None:
    groups = [a_group(api)[0] for _ in range(3)]
    api.ask("POST", "/jobs/kill", {"group": str(groups[1])})
    _, active = api.ask("GET", "/groups?state=active")
    _, ended = api.ask("GET", "/groups?state=ended")
    assert [group["id"] for group in active["groups"] if group["id"] in groups] == [groups[2], groups[0]]
    assert groups[1] in [group["id"] for group in ended["groups"]]
    _, page = api.ask("GET", "/groups?limit=1")
    assert [group["id"] for group in page["groups"]] == [groups[2]]
    _, page = api.ask("GET", f"/groups?limit=1&after={page['next']}")
    assert [group["id"] for group in page["groups"]] == [groups[1]]


def test_jobs_are_selected_by_group_or_without_one(api: Served) -> None:
    alone, jobs = api.ids(WAITS, entry="held"), a_group(api)
    _, found = api.ask("GET", f"/jobs?group={jobs[0]}&fields=id")
    assert [job["id"] for job in found["jobs"]] == jobs
    _, found = api.ask("GET", "/jobs?alone=true&state=held&fields=id")
    assert alone[0] in [job["id"] for job in found["jobs"]]
    assert not {job["id"] for job in found["jobs"]} & set(jobs)


def test_every_act_takes_a_group(api: Served) -> None:
    jobs = a_group(api, gpus=2, command=["false"])
    group = {"group": str(jobs[0])}
    held = api.ids({**WAITS, "command": ["sleep", "60"], "gpus": 2})
    api.until(held[0], "running")
    assert api.ask("POST", "/jobs/release", group)[1]["released"] == jobs
    assert api.ask("POST", "/jobs/edit", {**group, "changes": {"max_running": 1}})[1]["edited"] == jobs
    assert seen(api, jobs[0])["max_running"] == 1
    assert [job["id"] for job in api.ask("POST", "/jobs/move", {**group, "position": 1})[1]["moved"]] == jobs
    assert api.ask("POST", "/jobs/hold", group)[1]["held"] == jobs
    assert api.ask("POST", "/jobs/kill", group)[1]["asked"] == jobs
    assert seen(api, jobs[0])["counts"] == {"cancelled": 3}
    assert api.ask("POST", "/jobs/retry", group)[1]["retried"] == jobs
    assert seen(api, jobs[0])["counts"] == {"queued": 3}
    api.ask("POST", "/jobs/kill", group)
    assert api.ask("POST", "/jobs/rm", group)[1]["removed"] == jobs
    assert api.ask("GET", f"/groups?group={jobs[0]}")[0] == 404
    api.ask("POST", "/jobs/kill", {"ids": [str(held[0])]})


def test_the_failed_part_of_a_group_is_retried_and_removed(api: Served) -> None:
    commands = [["true"], ["false"], ["true"]]
    jobs = api.ids(*[{"command": command, "gpus": 0} for command in commands], group={"kind": "batch"})
    committed(api, jobs)
    group = {"group": str(jobs[0])}
    assert seen(api, jobs[0])["counts"] == {"succeeded": 2, "failed": 1}
    assert seen(api, jobs[0])["varies"] == "true | false | true"
    assert api.ask("POST", "/jobs/retry", {**group, "failed": True})[1]["retried"] == [jobs[1]]
    committed(api, jobs)
    assert api.ask("POST", "/jobs/rm", {**group, "state": "failed"})[1]["removed"] == [jobs[1]]
    assert (seen(api, jobs[0])["counts"], seen(api, jobs[0])["count"]) == ({"succeeded": 2}, 3)
