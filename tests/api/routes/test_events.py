import json
from collections.abc import Iterator
from typing import Any

from tests.api.served import Served


def lines_of(answer: Any) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    kind, data, number = "", {}, None
    for raw in answer:
        name, _, value = raw.decode().rstrip("\n").partition(": ")
        if name == "event":
            kind, number = value, None
        elif name == "id":
            number = value
        elif name == "data":
            data = json.loads(value)
        elif not name:
            yield kind, data, number


def test_every_state_of_a_job_is_told_as_it_happens(api: Served) -> None:
    stream = lines_of(api.get("/events"))
    assert next(stream)[0] == "hello"
    (job,) = api.ids({"shell": "read line < /dev/stdin; exit 2"})
    states: list[str] = []
    for kind, data, _ in stream:
        if kind == "job" and data["id"] == job:
            states.append(data["state"])
            if data["state"] == "failed":
                break
    assert states[-1] == "failed"
    assert states == sorted(states, key=["starting", "running", "failed"].index)


def test_a_stream_resumes_where_it_broke_off(api: Served) -> None:
    stream = lines_of(api.get("/events"))
    _, _, seen = next(stream)
    (job,) = api.ids({"command": ["true"], "gpus": 0})
    api.until(job, "succeeded")
    resumed = lines_of(api.get("/events", {"Last-Event-ID": str(seen)}))
    missed = next(data for kind, data, _ in resumed if kind == "job" and data["id"] == job)
    assert missed["state"] == "succeeded"


def test_only_the_jobs_asked_for_are_told(api: Served) -> None:
    first, second = api.ids({"command": ["sleep", "60"]}, {"command": ["sleep", "60"]})
    api.until(second, "running")
    stream = lines_of(api.get(f"/events?jobs={second}"))
    next(stream)
    for job in (first, second):
        api.ask("POST", "/jobs/kill", {"ids": [str(job)], "grace_s": 0})
    told = next(data for kind, data, _ in stream if kind == "job")
    assert told["id"] == second


def test_a_queue_that_pauses_is_told_to_whoever_listens(api: Served) -> None:
    stream = lines_of(api.get("/events"))
    next(stream)
    told = (data for kind, data, _ in stream if kind == "queue")
    api.ask("POST", "/queue/pause", {"reason": "tea"})
    assert next(told)["reason"] == "tea"
    api.ask("POST", "/queue/resume", {})
    assert next(told)["paused"] is False


def test_gpus_are_told_too(api: Served) -> None:
    gpus = api.ask("GET", "/gpus")[1]
    assert [gpu["index"] for gpu in gpus["gpus"]] == [0, 1]
    assert gpus["error"] is None
    (job,) = api.ids({"command": ["sleep", "60"]})
    api.until(job, "running")
    assert api.ask("GET", "/gpus")[1]["gpus"][0]["jobs"] == [job]


def test_a_wrong_resume_point_is_refused(api: Served) -> None:
    assert api.ask("GET", "/events", headers={"Last-Event-ID": "x"})[0] == 400
    assert api.ask("GET", "/events?jobs=x")[0] == 400


def test_following_a_log_gives_every_byte_and_ends_with_the_job(api: Served) -> None:
    (job,) = api.ids({"shell": "printf 'a\\r\\377\\000b'; sleep 0.2; printf 'last'", "gpus": 0})
    assert api.get(f"/jobs/{job}/log?follow=1").read() == b"a\r\xff\x00blast"


def test_a_log_can_be_followed_before_the_job_starts(api: Served) -> None:
    blocker, waiting = api.ids({"command": ["sleep", "60"], "gpus": 2}, {"shell": "echo now", "gpus": 2})
    api.until(blocker, "running")
    connection = api.connect()
    connection.request("GET", f"/api/v1/jobs/{waiting}/log?follow=1")
    api.ask("POST", "/jobs/kill", {"ids": [str(blocker)], "grace_s": 0})
    assert connection.getresponse().read() == b"now\n"


def test_the_end_of_a_log_and_the_rest_from_an_offset(api: Served) -> None:
    (job,) = api.ids({"shell": "seq 1 100; echo oops >&2", "gpus": 0})
    api.until(job, "succeeded")
    assert api.ask("GET", f"/jobs/{job}/log?lines=2")[1] == b"100\noops\n"
    assert api.ask("GET", f"/jobs/{job}/log?offset=4")[1].startswith(b"3\n4\n")
    assert api.ask("GET", f"/jobs/{job}/log?lines=0")[1] == b""


def test_output_before_there_is_any_says_how_to_wait_for_it(api: Served) -> None:
    blocker, waiting = api.ids({"command": ["sleep", "60"], "gpus": 2}, {"command": ["true"], "gpus": 2})
    api.until(blocker, "running")
    status, answer = api.ask("GET", f"/jobs/{waiting}/log")
    assert status == 404
    assert "-f" in answer["error"]["hint"]


def test_progress_is_read_from_the_log_of_a_running_job(api: Served) -> None:
    (job,) = api.ids({"shell": "printf '45%%|####      | 45/100 [00:12<00:15, 3.6it/s]\\r'; sleep 60"})
    api.until(job, "running")
    while (progress := api.ask("GET", f"/jobs/{job}")[1]["progress"]) is None:
        api.ask("GET", f"/jobs/wait?ids={job}&timeout_s=0.1")
    assert progress == {"fraction": 0.45, "eta_s": 15.0}
