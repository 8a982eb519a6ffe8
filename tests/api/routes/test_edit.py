"""Editing many waiting jobs at once, over HTTP."""

from typing import Any

import pytest

from tests.api.served import Served

WIDE = {"command": ["sleep", "60"], "gpus": 2}


def edit(api: Served, ids: list[int], **changes: Any) -> tuple[int, Any]:
    return api.ask("POST", "/jobs/edit", {"ids": [str(job) for job in ids], "changes": changes})


def priorities(api: Served, ids: list[int]) -> list[int]:
    return [api.ask("GET", f"/jobs/{job}")[1]["priority"] for job in ids]


def test_waiting_jobs_are_changed_and_running_ones_named(api: Served) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    waiting = api.ids(WIDE, WIDE)
    (held,) = api.ids(WIDE, entry="held")
    status, answer = edit(api, [running, *waiting, held], priority=3)
    assert (status, answer) == (200, {"edited": [*waiting, held], "not_waiting": [running]})
    assert priorities(api, [running, *waiting, held]) == [10, 3, 3, 3]


def test_a_whole_array_is_slowed_down_while_some_of_it_runs(api: Served) -> None:
    ids = api.ids(*[{**WIDE, "max_running": 2}] * 3, array=True)
    api.until(ids[0], "running")
    assert edit(api, ids, max_running=1)[1] == {"edited": ids[1:], "not_waiting": ids[:1]}
    assert api.ask("GET", f"/jobs/{ids[2]}")[1]["max_running"] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [({}, "no change was given"), ({"max_running": 1}, "not part of an array"), ({"priority": "high"}, "priority")],
)
def test_one_invalid_change_means_no_change(api: Served, changes: dict[str, Any], said: str) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    ids = [*api.ids(WIDE, array=True), *api.ids(WIDE)]
    status, answer = edit(api, ids, **changes)
    assert status == 400
    assert said in answer["error"]["message"]
    assert [api.ask("GET", f"/jobs/{job}")[1]["max_running"] for job in ids] == [None, None]


def test_jobs_cannot_be_made_to_wait_for_one_of_themselves(api: Served) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    first, second = api.ids(WIDE, WIDE)
    status, answer = edit(api, [first, second], after=[str(first)])
    assert (status, f"{first} after {first}" in answer["error"]["message"]) == (400, True)
    assert edit(api, [first, second], after=[f"{running}:any"])[1]["edited"] == [first, second]


def test_unknown_jobs_are_not_found(api: Served) -> None:
    assert edit(api, [999999], priority=1)[0] == 404
