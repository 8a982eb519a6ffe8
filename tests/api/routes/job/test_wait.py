"""Waiting for the end of jobs, over HTTP."""

from concurrent.futures import ThreadPoolExecutor

from tests.api.served import Served

SLEEP = {"command": ["sleep", "600"]}


def test_only_the_fields_that_are_asked_for_are_answered(api: Served) -> None:
    (job,) = api.ids({"command": ["sh", "-c", "exit 3"]})
    answer = api.ask("GET", f"/jobs/wait?ids={job}&timeout_s=20&fields=id,state,exit_code")[1]
    assert answer == {
        "jobs": [{"id": job, "state": "failed", "exit_code": 3}],
        "pending": [],
        "notice": None,
    }
    status, refused = api.ask("GET", f"/jobs/wait?ids={job}&fields=id,colour")
    assert status == 400
    assert "colour" in refused["error"]["message"]


def test_more_jobs_than_are_watched_at_once(api: Served) -> None:
    blocker = api.ids(SLEEP, SLEEP)
    ids = api.ids(*[SLEEP] * 2500)
    words = f"{ids[0]}-{ids[-1]}"
    early = api.ask("GET", f"/jobs/wait?ids={words}&timeout_s=0&fields=id")[1]
    assert (early["jobs"], early["pending"]) == ([], ids)
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(api.ask, "GET", f"/jobs/wait?ids={words}&timeout_s=20&fields=id,state")
        api.ask("POST", "/jobs/kill", {"ids": [f"{ids[0]}-{ids[1200]}"]})
        api.ask("POST", "/jobs/kill", {"ids": [f"{ids[1201]}-{ids[-1]}"]})
        answer = waiting.result()[1]
    assert answer["pending"] == []
    assert answer["jobs"] == [{"id": number, "state": "cancelled"} for number in ids]
    assert api.ask("GET", f"/jobs/{blocker[0]}")[1]["state"] == "running"


def test_a_notice_about_some_of_many_jobs_ends_the_wait(api: Served) -> None:
    api.ids(SLEEP, SLEEP)
    ids = api.ids(*[SLEEP] * 1500, entry="held")
    answer = api.ask("GET", f"/jobs/wait?ids={ids[0]}-{ids[-1]}&timeout_s=20&known=&fields=id")[1]
    assert answer["pending"] == ids
    assert "held" in answer["notice"]
