"""Waiting jobs over HTTP: hold, release, move, edit, forced start; arrays and dependencies."""

import os
import time
from typing import Any

import pytest

from tests.api.served import Served

SLEEP = {"command": ["sleep", "60"], "gpus": 1}
WIDE = {"command": ["sleep", "60"], "gpus": 2}
NOTHING = {"command": ["true"], "gpus": 0}
DONE = {"shell": "exit 0", "gpus": 0}
BROKEN = {"shell": "exit 3", "gpus": 0}


@pytest.fixture
def busy(api: Served) -> int:
    """A job that has both GPUs."""
    (job,) = api.ids(WIDE)
    api.until(job, "running")
    return job


def look(api: Served, job: int) -> dict[str, Any]:
    return api.ask("GET", f"/jobs/{job}")[1]  # type: ignore[no-any-return]


def refusal(api: Served, *jobs: dict[str, Any], **more: Any) -> str:
    status, answer = api.submit(*jobs, **more)
    assert status == 400, answer
    return f"{answer['error']['message']}\n{answer['error']['hint']}"


# Hold and release


def test_a_held_job_does_not_start_until_it_is_released(api: Served) -> None:
    (job,) = api.ids(NOTHING, entry="held")
    seen = look(api, job)
    assert (seen["state"], seen["position"]) == ("held", None)
    assert seen["held_by"] == seen["owner"]
    assert "tarmac release" in seen["reason"]
    assert api.ask("POST", "/jobs/release", {"ids": [str(job)]})[1] == {"released": [job], "not_held": []}
    api.until(job, "succeeded")
    assert api.ask("POST", "/jobs/release", {"ids": [str(job)]})[1] == {"released": [], "not_held": [job]}


def test_hold_holds_waiting_jobs_and_leaves_running_ones(api: Served, busy: int) -> None:
    (waiting,) = api.ids(SLEEP)
    answer = api.ask("POST", "/jobs/hold", {"ids": [str(busy), str(waiting)]})[1]
    assert answer == {"held": [waiting], "not_waiting": [busy]}
    assert api.ask("POST", "/jobs/hold", {"ids": [str(waiting)]})[1]["held"] == [waiting], "once more does no harm"
    assert look(api, busy)["state"] == "running"


def test_held_jobs_and_drafts_are_listed_killed_and_removed_like_others(api: Served) -> None:
    (held,) = api.ids(NOTHING, entry="held")
    (draft,) = api.ids(NOTHING, entry="draft")
    listed = api.ask("GET", f"/jobs?ids={held}-{draft}&state=active&fields=id,state")[1]["jobs"]
    assert listed == [{"id": held, "state": "held"}, {"id": draft, "state": "draft"}]
    assert api.ask("GET", "/jobs?state=draft&fields=id")[1]["jobs"] == [{"id": draft}]
    assert api.ask("POST", "/jobs/kill", {"ids": [str(held)]})[1]["asked"] == [held]
    assert api.until(held, "cancelled")["started_at"] is None
    assert api.ask("POST", "/jobs/rm", {"ids": [str(draft)]})[1] == {"removed": [draft]}
    assert api.ask("GET", f"/jobs/{draft}")[0] == 404


def test_a_draft_joins_the_queue_when_it_is_released(api: Served) -> None:
    (job,) = api.ids(NOTHING, entry="draft")
    assert "draft" in look(api, job)["reason"]
    api.ask("POST", "/jobs/release", {"state": "draft"})
    api.until(job, "succeeded")


# Order by hand


def test_a_moved_job_has_the_place_it_was_given(api: Served, busy: int) -> None:
    first, second, third = api.ids(WIDE, WIDE, WIDE)
    assert [look(api, job)["position"] for job in (first, second, third)] == [1, 2, 3]
    status, answer = api.ask("POST", f"/jobs/{third}/move", {"position": 1})
    assert (status, answer) == (200, {"position": 1, "priority": 10})
    assert [look(api, job)["position"] for job in (first, second, third)] == [2, 3, 1]
    assert api.ask("POST", f"/jobs/{third}/move", {"position": 99})[1]["position"] == 3
    api.ask("POST", f"/jobs/{second}/move", {"position": 1})
    api.ask("POST", "/jobs/kill", {"ids": [str(busy)]})
    api.until(second, "running")
    assert look(api, first)["state"] == "queued"


def test_a_move_wins_over_the_order_by_expected_length(api: Served, busy: int) -> None:
    api.ask("PUT", "/settings/order", {"value": "expected"})
    jobs = api.ids(*({**WIDE, "time_limit_s": limit_s} for limit_s in (9e5, 1e5, 5e4)))
    first, second, third = jobs
    assert [look(api, job)["position"] for job in jobs] == [3, 2, 1]
    assert api.ask("POST", f"/jobs/{first}/move", {"position": 1})[1]["position"] == 1
    assert [look(api, job)["position"] for job in jobs] == [1, 3, 2]
    body = {"ids": [str(second)], "position": 2}
    assert api.ask("POST", "/jobs/move", body)[1]["moved"][0]["position"] == 2
    assert [look(api, job)["position"] for job in jobs] == [1, 2, 3]
    api.ask("POST", "/jobs/kill", {"ids": [str(busy)]})
    api.until(first, "running")
    assert look(api, third)["state"] == "queued"


def test_a_moved_job_takes_over_the_priority_that_its_place_needs(api: Served, busy: int) -> None:
    first, second = api.ids({**WIDE, "priority": 3}, WIDE)
    assert api.ask("POST", f"/jobs/{second}/move", {"position": 1})[1] == {"position": 1, "priority": 3}
    assert (look(api, second)["priority"], look(api, first)["position"]) == (3, 2)


@pytest.mark.parametrize("position", [0, -1, 1.5, "first", 2**32])
def test_an_invalid_place_is_refused(api: Served, busy: int, position: Any) -> None:
    assert api.ask("POST", f"/jobs/{busy}/move", {"position": position})[0] == 400


def test_running_and_held_jobs_cannot_be_moved(api: Served, busy: int) -> None:
    status, answer = api.ask("POST", f"/jobs/{busy}/move", {"position": 1})
    assert (status, answer["error"]["code"]) == (409, "conflict")
    (held,) = api.ids(NOTHING, entry="held")
    status, answer = api.ask("POST", f"/jobs/{held}/move", {"position": 1})
    assert status == 409
    assert f"tarmac release {held}" in answer["error"]["hint"]


# Changed while it waits


def test_a_waiting_job_can_be_edited(api: Served, busy: int) -> None:
    (job,) = api.ids(WIDE)
    changes = {
        "priority": 4,
        "tier": "preemptible",
        "time_limit_s": 60,
        "name": "new",
        "project": "p",
        "tags": ["a"],
        "after": [f"{busy}:any"],
    }
    status, seen = api.ask("PATCH", f"/jobs/{job}", changes)
    assert status == 200
    assert {name: seen[name] for name in changes} == changes
    assert f"waits for job {busy} to end" in seen["reason"]
    status, seen = api.ask("PATCH", f"/jobs/{job}", {"time_limit_s": None, "after": None, "name": None, "tags": []})
    assert (seen["time_limit_s"], seen["after"], seen["name"], seen["tags"]) == (None, [], None, [])
    assert (seen["priority"], seen["project"]) == (4, "p"), "what is not named stays"
    assert [event["kind"] for event in api.ask("GET", f"/jobs/{job}/events")[1]["events"]][-1] == "JobEdited"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "no change was given"),
        ({"gpus": -2}, "gpus"),
        ({"priority": None}, "priority"),
        ({"priority": 10**10}, "priority"),
        ({"tier": "royal"}, "tier"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"begin_at": -1}, "begin_at"),
        ({"max_running": 0}, "max_running"),
        ({"max_running": 2}, "not part of a group"),
        ({"after": ["x"]}, "'x'"),
        ({"after": ["#0"]}, "#0"),
        ({"name": "a\0b"}, "NUL"),
    ],
)
def test_invalid_changes_are_refused(
    api: Served,
    busy: int,
    changes: dict[str, Any],
    says: str,
) -> None:
    (job,) = api.ids(WIDE)
    before = look(api, job)
    status, answer = api.ask("PATCH", f"/jobs/{job}", changes)
    assert status == 400
    assert says in answer["error"]["message"]
    assert look(api, job) == before


def test_a_running_job_cannot_be_edited(api: Served, busy: int) -> None:
    status, answer = api.ask("PATCH", f"/jobs/{busy}", {"priority": 1})
    assert (status, answer["error"]["code"]) == (409, "conflict")
    assert "running" in answer["error"]["message"]


def test_an_edit_that_would_close_a_circle_is_refused(api: Served, busy: int) -> None:
    first, second = api.ids({**WIDE, "after": [str(busy)]}, {**WIDE, "after": ["#0"]})
    status, answer = api.ask("PATCH", f"/jobs/{first}", {"after": [str(second)]})
    assert status == 400
    assert f"{first} after {second} after {first}" in answer["error"]["message"]


# Dependencies


def test_a_job_starts_once_the_other_ended_well(api: Served) -> None:
    first, second = api.ids({"shell": "sleep 0.3", "gpus": 0}, {**DONE, "after": ["#0:ok"]})
    assert look(api, second)["after"] == [f"{first}:ok"]
    api.until(second, "succeeded")
    assert look(api, second)["started_at"] >= look(api, first)["ended_at"]


def test_a_dependency_that_can_no_longer_be_met_ends_the_job_at_once(api: Served) -> None:
    first, hopeless, after_it, wanted = api.ids(
        BROKEN, {**DONE, "after": ["#0"]}, {**DONE, "after": ["#1"]}, {**DONE, "after": ["#0:fail"]}
    )
    for job, other in ((hopeless, first), (after_it, hopeless)):
        seen = api.until(job, "failed")
        assert (seen["reason"], seen["started_at"]) == ("dependency", None)
        assert f"job {other}" in seen["message"]
    api.until(wanted, "succeeded")


def test_an_ended_job_decides_at_once(api: Served) -> None:
    (done,) = api.ids(DONE)
    api.until(done, "succeeded")
    good, bad = api.ids({**DONE, "after": [str(done)]}, {**DONE, "after": [f"{done}:fail"]})
    api.until(good, "succeeded")
    assert api.until(bad, "failed")["reason"] == "dependency"


def test_an_unknown_job_and_a_circle_are_named(api: Served) -> None:
    status, answer = api.submit({**DONE, "after": ["999999:any"]})
    assert (status, answer["error"]["code"]) == (404, "not_found")
    assert "999999" in answer["error"]["message"]
    said = refusal(api, {**DONE, "after": ["#1"]}, {**DONE, "after": ["#2:any"]}, {**DONE, "after": ["#0"]})
    assert "#0 after #1 after #2 after #0" in said


# Time


def test_a_job_waits_for_its_time_and_then_starts(api: Served) -> None:
    begin = time.time() + 0.5
    (job,) = api.ids({**DONE, "begin_at": begin})
    seen = look(api, job)
    if seen["state"] == "queued":
        assert "cannot start before" in seen["reason"]
    started = api.until(job, "succeeded")["started_at"]
    assert started >= seen["begin_at"]


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ({"tier": "royal"}, "tier"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"time_limit_s": 367 * 86400}, "time_limit_s"),
        ({"begin_at": "22:00"}, "begin_at"),
        ({"begin_at": 1e15}, "begin_at"),
        ({"after": [7]}, "after"),
        ({"after": ["7"] * 10_001}, "after"),
        ({"after": ["7:soon"]}, "soon"),
        ({"after": ["#1"]}, "#1"),
        ({"max_running": 0}, "max_running"),
        ({"max_running": 2}, "group"),
        ({"signal": 0}, "signal"),
        ({"signal": 65}, "signal"),
        ({"signal": 9}, "no process can catch signal"),
        ({"signal": 19}, "no process can catch signal"),
        ({"after": ["٧"]}, "not a job id"),
    ],
)
def test_invalid_scheduling_options_are_refused(api: Served, job: dict[str, Any], says: str) -> None:
    assert says in refusal(api, {**NOTHING, **job})


def test_an_unknown_entry_is_refused(api: Served) -> None:
    assert "entry" in refusal(api, NOTHING, entry="running")


# Arrays


def test_an_array_has_indices_and_each_job_knows_its_own(api: Served) -> None:
    told = "echo $TARMAC_ARRAY_ID $TARMAC_ARRAY_INDEX $TARMAC_ARRAY_COUNT"
    ids = api.ids(*[{"shell": told, "gpus": 0}] * 3, group={"kind": "array"})
    for index, job in enumerate(ids):
        seen = api.until(job, "succeeded")
        assert (seen["group"], seen["index"]) == (ids[0], index)
        with open(seen["log_path"], encoding="utf-8") as log:
            assert log.read() == f"{ids[0]} {index} 3\n"


def test_a_lone_job_has_no_array_even_if_its_submitter_had(api: Served) -> None:
    world = {"PATH": os.environ["PATH"], "TARMAC_ARRAY_ID": "1", "TARMAC_ARRAY_COUNT": "9"}
    (job,) = api.ids({"shell": "env | grep -c ARRAY; true", "gpus": 0}, environment=world)
    seen = api.until(job, "succeeded")
    assert (seen["group"], seen["index"]) == (None, None)
    with open(seen["log_path"], encoding="utf-8") as log:
        assert log.read() == "0\n"


def test_an_array_runs_at_most_max_running_jobs_at_once(api: Served) -> None:
    ids = api.ids(*[{"command": ["sleep", "60"], "gpus": 0, "max_running": 1}] * 2, group={"kind": "array"})
    api.until(ids[0], "running")
    seen = look(api, ids[1])
    assert (seen["state"], seen["max_running"]) == ("queued", 1)
    assert "max_running" in seen["reason"]
    api.ask("POST", "/jobs/kill", {"ids": [str(ids[0])]})
    api.until(ids[1], "running")


# By hand


def test_a_forced_start_shares_a_gpu_only_if_confirmed(api: Served) -> None:
    (first,) = api.ids(SLEEP)
    gpu = api.until(first, "running")["gpus"][0]
    wide, narrow = api.ids(WIDE, SLEEP, entry="held")
    status, answer = api.ask("POST", f"/jobs/{narrow}/start", {"gpus_on": [gpu["index"]]})
    assert (status, answer["error"]["code"]) == (409, "conflict")
    assert f"GPU {gpu['index']} is held by job {first}" in answer["error"]["message"]
    assert look(api, narrow)["state"] == "held"
    status, answer = api.ask("POST", f"/jobs/{narrow}/start", {"gpus_on": [gpu["uuid"]], "yes": True})
    assert (status, answer) == (200, {"gpus": [gpu]})
    assert api.until(narrow, "running")["gpus"] == [gpu]
    assert api.ask("POST", f"/jobs/{wide}/start", {})[0] == 409, "it would need that GPU too"
    assert api.ask("POST", f"/jobs/{narrow}/start", {})[0] == 409, "it runs already"


def test_a_forced_start_on_unsuitable_gpus_is_refused(api: Served) -> None:
    (job,) = api.ids(WIDE, entry="held")
    assert api.ask("POST", f"/jobs/{job}/start", {"gpus_on": [0]})[0] == 400
    assert api.ask("POST", f"/jobs/{job}/start", {"gpus_on": [0, 9]})[0] == 404
    assert api.ask("POST", f"/jobs/{job}/start", {"gpus_on": []})[0] == 400
    assert api.ask("POST", "/jobs/999999/start", {})[0] == 404
