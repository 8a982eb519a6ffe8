"""The event stream, over HTTP."""

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


def test_every_state_of_a_job_is_streamed_as_it_happens(api: Served) -> None:
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


def test_only_the_requested_jobs_are_streamed(api: Served) -> None:
    first, second = api.ids({"command": ["sleep", "60"]}, {"command": ["sleep", "60"]})
    api.until(second, "running")
    stream = lines_of(api.get(f"/events?jobs={second}"))
    next(stream)
    for job in (first, second):
        api.ask("POST", "/jobs/kill", {"ids": [str(job)], "grace_s": 0})
    told = next(data for kind, data, _ in stream if kind == "job")
    assert told["id"] == second


def test_a_pause_of_the_queue_is_streamed(api: Served) -> None:
    stream = lines_of(api.get("/events"))
    next(stream)
    told = (data for kind, data, _ in stream if kind == "queue")
    api.ask("POST", "/queue/pause", {"reason": "tea"})
    assert next(told)["reason"] == "tea"
    api.ask("POST", "/queue/resume", {})
    assert next(told)["paused"] is False


def test_gpus_are_listed_with_their_jobs(api: Served) -> None:
    gpus = api.ask("GET", "/gpus")[1]
    assert [gpu["index"] for gpu in gpus["gpus"]] == [0, 1]
    assert gpus["error"] is None
    (job,) = api.ids({"command": ["sleep", "60"]})
    api.until(job, "running")
    assert api.ask("GET", "/gpus")[1]["gpus"][0]["jobs"] == [job]


def test_a_wrong_resume_point_is_refused(api: Served) -> None:
    assert api.ask("GET", "/events", headers={"Last-Event-ID": "x"})[0] == 400
    assert api.ask("GET", "/events?jobs=x")[0] == 400
