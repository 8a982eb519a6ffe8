"""The event stream, over HTTP."""

import http.client
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tarmac.api.sse.events import EVENTS
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


def test_a_listener_that_does_not_read_is_dropped_and_resumes_while_others_get_everything(api: Served) -> None:
    stalled, healthy = api.get("/events"), lines_of(api.get("/events"))
    next(healthy)
    expected: list[int] = []
    with ThreadPoolExecutor(1) as beside:
        for _ in range(8):  # 4 MB each: together more than sockets and the backlog hold
            expected += api.ids(*[{"command": ["x" * 100_000] * 2}] * 20, entry="draft")
            wanted = set(expected[-20:])
            reading = beside.submit(lambda wanted: _read_until(healthy, wanted), wanted)
            reading.result(timeout=60)
    received = b""
    try:
        while chunk := stalled.read1():
            received += chunk
    except (http.client.IncompleteRead, ConnectionError):
        pass  # it was dropped
    seen = {int(number) for number in re.findall(rb'^data: {"id":(\d+),', received, re.MULTILINE)}
    assert not set(expected) <= seen
    last = re.findall(rb"^id: (\d+)$", received, re.MULTILINE)[-1].decode()
    resumed = lines_of(api.get("/events", {"Last-Event-ID": last}))
    _read_until(resumed, set(expected) - seen)


def _read_until(stream: Iterator[tuple[str, dict[str, Any], str | None]], jobs: set[int]) -> None:
    """Read until each of the jobs was told."""
    while jobs:
        kind, data, _ = next(stream)
        assert kind != "missed"
        if kind == "job":
            jobs = jobs - {data["id"]}


def test_the_page_of_the_api_describes_every_event() -> None:
    text = (Path(__file__).parents[3] / "docs/api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (.*?) \|", text.partition("## Events")[2].partition("\n## ")[0], re.MULTILINE)
    assert [name for name, _ in listed] == list(EVENTS)
    for name, data in listed:
        fields = EVENTS[name].__struct_fields__
        assert all(f'"{field}"' in data for field in fields) or len(fields) > 5, name
