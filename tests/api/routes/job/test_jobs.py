import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.schemas.job.job import JobView, WholeJobView
from tests.api.served import LARGE_DEADLINE_S, Served

SLEEP = {"command": ["sleep", "60"], "gpus": 1}
NOTHING = {"command": ["true"], "gpus": 0}


def test_ids_come_back_once_the_jobs_are_stored(api: Served) -> None:
    status, answer = api.submit(NOTHING, {**NOTHING, "name": "second"})
    assert status == 201
    first, second = answer["ids"]
    assert second == first + 1
    assert api.until(second, "succeeded")["name"] == "second"


def test_the_same_token_gives_the_same_jobs(api: Served) -> None:
    assert api.submit(NOTHING, token="once")[0] == 201
    again = api.submit(NOTHING, token="once")
    assert again[0] == 200
    assert api.submit(NOTHING, token="once") == again
    assert api.submit(NOTHING, token="twice")[1] != again[1]


def test_a_hundred_thousand_jobs_in_one_list(api: Served) -> None:
    blocker = api.ids(SLEEP, SLEEP)
    ids = api.ids(*[{"command": ["true", str(number)]} for number in range(100_000)])
    assert ids == list(range(ids[0], ids[0] + 100_000))
    last = api.ask("GET", f"/jobs/{ids[-1]}")[1]
    assert last["command"] == ["true", "99999"]
    assert last["why"][0] == "99999 jobs ahead in the queue"
    assert f"held by jobs {blocker[0]}, {blocker[1]}" in last["why"][1]
    assert api.ask("POST", "/jobs/kill", {"ids": ["all"]}, deadline_s=LARGE_DEADLINE_S)[0] == 200
    with ThreadPoolExecutor(1) as other:
        body = {"ids": [f"{ids[0]}-{ids[-1]}"]}
        removing = other.submit(api.ask, "POST", "/jobs/rm", body, deadline_s=LARGE_DEADLINE_S)
        while api.ask("GET", f"/jobs/{ids[0]}")[0] == 200:
            assert not removing.done()
        assert api.ask("GET", "/status")[0] == 200
        assert api.ask("GET", f"/jobs/{ids[-1]}")[0] == 200, "others are answered while jobs are being removed"
        assert removing.result() == (200, {"removed": ids})


def test_one_invalid_job_means_that_none_is_queued(api: Served) -> None:
    before = api.ask("GET", "/jobs?fields=id")[1]
    status, answer = api.submit(NOTHING, {**NOTHING, "gpus": 3})
    assert status == 400
    assert answer["error"]["message"] == "requested 3 GPUs; this machine has 2"
    assert "at most 2" in answer["error"]["hint"]
    assert api.ask("GET", "/jobs?fields=id")[1] == before


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ({"command": ["true"], "gpus": -1}, "gpus"),
        ({"command": ["true"], "gpus": 1.5}, "gpus"),
        ({"command": ["true"], "gpus": "one"}, "gpus"),
        ({"command": ["true"], "gpus": 100_001}, "gpus"),
        ({"command": ["true"], "priority": 10**10}, "priority"),
        ({"command": ["true"], "grace_s": -1}, "grace_s"),
        ({"command": ["true"], "grace_s": 86_401}, "grace_s"),
        ({"command": ["true"], "name": "x" * 4097}, "name"),
        ({"command": ["true"], "tags": ["t"] * 101}, "tags"),
        ({"command": []}, "command"),
        ({"command": [""]}, "empty"),
        ({"command": ["true"], "shell": "true"}, "either"),
        ({}, "needs a command"),
        ({"command": ["true"], "gpu": 1}, "gpu"),
        ({"command": ["a\0b"]}, "NUL"),
        ({"command": ["true", "x" * 131_072]}, "131071"),
        ({"command": ["true", *["x" * 100_000] * 21]}, "in total"),
        ({"command": ["true"], "cwd": "relative"}, "absolute"),
        ({"command": ["true"], "cwd": "/no/such/folder"}, "/no/such/folder"),
        ({"command": ["true"], "log": "/no/such/folder/log"}, "/no/such/folder"),
        ({"command": ["true"], "log": "/"}, "is a directory"),
        ({"command": ["true"], "log": "/proc/sys/log"}, "/proc/sys"),
        ({"command": ["true"], "log": "/tmp/a", "stderr": "/tmp/b"}, "cannot be combined"),
        ({"command": ["true"], "stdout": "/tmp/same", "stderr": "/tmp/same"}, "same file"),
    ],
)
def test_invalid_jobs_are_refused_with_the_reason(api: Served, job: dict[str, Any], says: str) -> None:
    status, answer = api.submit(job)
    assert status == 400
    error = answer["error"]
    assert error["code"] == "refused"
    assert says in error["message"] + error["hint"]
    assert error["hint"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jobs": []}', b'{"cwd": "/", "jobs": [{}], "umask": 512}'])
def test_a_body_that_is_not_a_submit_is_refused(api: Served, body: bytes) -> None:
    status, answer = api.ask("POST", "/jobs", body)
    assert status == 400
    assert answer["error"]["code"] == "refused"


def test_an_existing_log_is_not_overwritten_unless_appended_to(api: Served, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("precious\n")
    status, answer = api.submit({**NOTHING, "log": str(log)})
    assert status == 400
    assert "not overwritten" in answer["error"]["message"]
    (job,) = api.ids({"shell": "echo more", "gpus": 0, "log": str(log), "append": True})
    api.until(job, "succeeded")
    assert log.read_text() == "precious\nmore\n"


def test_names_and_arguments_of_every_kind_come_back_as_they_were(api: Served) -> None:
    name = "line\nbreak \"quoted\" 'too' \x1b[31m 🚀 名前"
    argument = "x" * 100_000
    (job,) = api.ids({"command": ["true", argument], "gpus": 0, "name": name, "tags": ["a b", "ü"]})
    seen = api.until(job, "succeeded")
    assert (seen["name"], seen["command"][1], seen["tags"]) == (name, argument, ["a b", "ü"])
    found = api.ask("GET", "/jobs?tag=%C3%BC&fields=id")[1]["jobs"]
    assert found == [{"id": job}]


def test_pages_follow_each_other_without_gaps_or_repeats(api: Served) -> None:
    ids = api.ids(*[NOTHING] * 25)
    for order in ("asc", "desc"):
        seen: list[int] = []
        after = ""
        while True:
            query = f"/jobs?ids={ids[0]}-{ids[-1]}&limit=10&order={order}&fields=id{after}"
            page = api.ask("GET", query)[1]
            seen += [job["id"] for job in page["jobs"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert seen == (ids if order == "asc" else ids[::-1])


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=10001", "limit=x", "order=up", "fields=nope", "state=nope", "ids=x"]
)
def test_an_invalid_query_is_refused(api: Served, query: str) -> None:
    status, answer = api.ask("GET", f"/jobs?{query}")
    assert (status, answer["error"]["code"]) == (400, "refused")


def test_unknown_ids_are_named(api: Served) -> None:
    for path in (
        "/jobs/999999",
        "/jobs/999999/log",
        "/jobs/999999/events",
        "/jobs?ids=999999",
        "/jobs/wait?ids=999999",
    ):
        status, answer = api.ask("GET", path)
        assert (status, answer["error"]["code"]) == (404, "not_found")
        assert "999999" in answer["error"]["message"]


HUGE = "1" + "0" * 30


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        (f"/jobs/{HUGE}", f"'{HUGE}' is larger than any job id", "run `tarmac ls -a` to list all known jobs"),
        (f"/jobs?ids=1-{HUGE}", f"'1-{HUGE}' is larger than any job id", "run `tarmac ls -a` to list all known jobs"),
        (
            f"/jobs/{'9' * 5000}",
            f"'{'9' * 5000}' is larger than any job id",
            "run `tarmac ls -a` to list all known jobs",
        ),
        ("/jobs?ids=7-3", "'7-3' is not a range of job ids", "write the lower id first: 3-7"),
        ("/jobs/all", "'all' means more than one job", "give a single id, or `last`"),
        ("/jobs/3-7", "'3-7' means more than one job", "give a single id, or `last`"),
        ("/jobs/seven", "'seven' is not a job id", "give a single id such as 7, or `last`"),
        ("/jobs?ids=seven", "'seven' is not a job id", "give ids such as 7, ranges such as 3-7, `last` or `all`"),
    ],
)
def test_a_refused_id_has_a_hint_that_fits_it(api: Served, path: str, message: str, hint: str) -> None:
    status, answer = api.ask("GET", path)
    assert (status, answer["error"]["message"], answer["error"]["hint"]) == (400, message, hint)


def test_a_job_has_the_documented_fields(api: Served) -> None:
    (job,) = api.ids(NOTHING)
    whole = api.ask("GET", f"/jobs/{job}")[1]
    listed = api.ask("GET", f"/jobs?ids={job}")[1]["jobs"][0]
    assert list(listed) == list(JobView.__struct_fields__)
    assert list(whole) == list(WholeJobView.__struct_fields__)


def test_last_is_the_newest_of_the_caller(api: Served) -> None:
    ids = api.ids(NOTHING, NOTHING)
    assert api.ask("GET", "/jobs/last")[1]["id"] == ids[-1]


def test_wait_answers_when_all_have_ended_or_at_the_timeout(api: Served) -> None:
    ids = api.ids({"shell": "exit 3", "gpus": 0}, SLEEP)
    _, answer = api.ask("GET", f"/jobs/wait?ids={ids[0]},{ids[1]}&timeout_s=1")
    assert [(job["id"], job["exit_code"]) for job in answer["jobs"]] == [(ids[0], 3)]
    assert answer["pending"] == [ids[1]]


def test_killing_a_queued_job_starts_nothing_and_frees_its_place(api: Served) -> None:
    running, waiting, following = api.ids({**SLEEP, "gpus": 2}, {**SLEEP, "gpus": 2}, {**SLEEP, "gpus": 2})
    api.until(running, "running")
    answer = api.ask("POST", "/jobs/kill", {"ids": [str(waiting)]})[1]
    assert answer == {"asked": [waiting], "already_ended": [], "not_asked": [], "unwritten": None}
    assert api.until(waiting, "cancelled")["started_at"] is None
    assert api.ask("POST", "/jobs/kill", {"ids": [str(waiting)]})[1]["already_ended"] == [waiting]
    api.ask("POST", "/jobs/kill", {"ids": [str(running)]})
    assert api.until(following, "running")["attempt"] == 1


def test_a_killed_job_keeps_its_gpu_until_it_is_gone(api: Served, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    stubborn = f"trap '' TERM; touch {ready}; while :; do sleep 0.1; done"
    first, second = api.ids({"shell": stubborn, "gpus": 2}, {**SLEEP, "gpus": 2})
    api.until(first, "running")
    while not ready.exists():
        api.ask("GET", f"/jobs/wait?ids={first}&timeout_s=0.02")
    api.ask("POST", "/jobs/kill", {"ids": [str(first)], "grace_s": 30})
    assert api.until(first, "stopping")["gpus"] != []
    assert api.ask("GET", f"/jobs/{second}")[1]["state"] == "queued"
    api.ask("POST", "/jobs/kill", {"ids": [str(first)], "grace_s": 0})
    ended = api.until(first, "cancelled")
    assert ended["signal"] == 9
    assert api.until(second, "running")["gpus"] != []


def test_a_selection_without_a_condition_is_refused(api: Served) -> None:
    for verb in ("kill", "rm"):
        status, answer = api.ask("POST", f"/jobs/{verb}", {"ids": []})
        assert status == 400
        assert answer["error"]["hint"]


def test_running_jobs_are_not_removed(api: Served) -> None:
    (job,) = api.ids(SLEEP)
    api.until(job, "running")
    status, answer = api.ask("POST", "/jobs/rm", {"ids": [str(job)]})
    assert (status, answer["error"]["code"]) == (409, "conflict")
    assert api.ask("GET", f"/jobs/{job}")[0] == 200


def test_removing_forgets_the_job_and_its_log_and_never_gives_the_id_again(api: Served) -> None:
    (job,) = api.ids({"shell": "echo hi", "gpus": 0})
    log = api.until(job, "succeeded")["log_path"]
    assert os.path.exists(log)
    assert api.ask("POST", "/jobs/rm", {"ids": [str(job)]})[1] == {"removed": [job]}
    assert not os.path.exists(log)
    assert api.ask("GET", f"/jobs/{job}")[0] == 404
    assert api.ids(NOTHING)[0] > job


def test_a_job_names_the_jobs_it_still_waits_for(api: Served) -> None:
    done, first, second = api.ids(NOTHING, {"command": ["sleep", "60"]}, {"command": ["sleep", "60"]})
    api.until(done, "succeeded")
    (job,) = api.ids({**NOTHING, "after": [f"{done}:any", f"{first}:any", f"{second}:any"]})
    assert api.ask("GET", f"/jobs/{job}")[1]["waits_for"] == [first, second]
    api.ask("POST", "/jobs/kill", {"ids": [str(first)], "grace_s": 0})
    api.until(first, "cancelled")
    assert api.ask("GET", f"/jobs?ids={job}&fields=waits_for")[1]["jobs"] == [{"waits_for": [second]}]
    api.ask("POST", "/jobs/kill", {"ids": [str(second)], "grace_s": 0})
    assert api.until(job, "succeeded")["waits_for"] == []


def test_the_events_of_a_job_are_listed_in_order(api: Served) -> None:
    (job,) = api.ids({"shell": "exit 9"})
    api.until(job, "failed")
    events = api.ask("GET", f"/jobs/{job}/events")[1]["events"]
    assert [event["kind"] for event in events] == ["JobSubmitted", "Decided", "JobStarted", "JobExited"]
    assert events[-1]["detail"]["exit_code"] == 9
    assert [event["id"] for event in events] == sorted(event["id"] for event in events)


def test_many_clients_at_once_are_all_served(api: Served) -> None:
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.extend(api.ids(NOTHING))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(answers)) == 20


def test_openapi_names_every_route_and_field(api: Served) -> None:
    status, schema = api.ask("GET", "/openapi.json")
    assert status == 200
    paths = {path.removeprefix("/api/v1") for path in schema["paths"]}
    assert {"/jobs", "/jobs/wait", "/jobs/kill", "/jobs/rm", "/gpus", "/status", "/events", "/stop"} <= paths
    text = json.dumps(schema)
    assert all(f'"{field}"' in text for field in JobView.__struct_fields__)
    assert "100000" in text, "bounds are part of the schema"
