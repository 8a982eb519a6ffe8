"""The output of jobs, over HTTP."""

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.core.events import GpusSeen, JobExited, JobStarted, NodeJoined, QueueStopped, Reported, StartForced
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.nodes.fleet import Fleet
from tests.api.asgi import send, with_controller
from tests.api.served import Served

DESK, BIG, JOB = NodeName("desk"), NodeName("big"), JobId(1)


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


def test_the_error_for_missing_output_says_how_to_wait_for_it(api: Served) -> None:
    blocker, waiting = api.ids({"command": ["sleep", "60"], "gpus": 2}, {"command": ["true"], "gpus": 2})
    api.until(blocker, "running")
    status, answer = api.ask("GET", f"/jobs/{waiting}/log")
    assert status == 404
    assert "-f" in answer["error"]["hint"]


@pytest.mark.parametrize("query", ["", "?follow=1", "?lines=3"])
def test_a_job_that_was_cancelled_before_it_started_never_ran(api: Served, query: str) -> None:
    (job,) = api.ids({"command": ["true"]}, entry="held")
    api.ask("POST", "/jobs/kill", {"ids": [str(job)]})
    assert api.ask("GET", f"/jobs/{job}/log{query}")[1]["error"]["key"] == "log.never_ran"


def test_an_unreadable_log_is_reported_to_a_follower(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0, "stdout": "/dev/null", "append": True})
    assert api.ask("GET", f"/jobs/{job}/log?follow=1")[1]["error"]["key"] == "log.unreadable"


def test_progress_is_read_from_the_log_of_a_running_job(api: Served) -> None:
    (job,) = api.ids({"shell": "printf '45%%|####      | 45/100 [00:12<00:15, 3.6it/s]\\r'; sleep 60"})
    api.until(job, "running")
    while (progress := api.ask("GET", f"/jobs/{job}")[1]["progress"]) is None:
        api.ask("GET", f"/jobs/wait?ids={job}&timeout_s=0.1")
    assert progress == {"fraction": 0.45, "eta_s": 15.0}


def test_the_tag_adopted_does_not_make_a_job_an_adopted_one(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0, "tags": ["adopted"], "stdout": "/dev/null", "append": True})
    api.until(job, "succeeded")
    assert api.ask("GET", f"/jobs/{job}/log")[1]["error"]["key"] == "log.unreadable", "/dev/null is not a file"


class Logs(Fleet):
    """A fleet on which every log file holds the name of its node."""

    home: Any = SimpleNamespace(name=DESK)

    def has(self, node: NodeName) -> bool:
        return node in {BIG, DESK}

    async def ask(self, node: NodeName, frame: Any) -> dict[str, Any]:
        return {"data": base64.b64encode(node.encode()[frame["offset"] :] if frame["limit"] else b"").decode()}


def test_the_log_of_an_earlier_attempt_is_read_on_the_node_of_that_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(controller: Controller) -> None:
        async def log(query: str = "") -> bytes:
            answer = await send(controller, "GET", f"/jobs/1/log{query}")
            assert answer is not None
            return answer.body

        async def settled() -> None:
            await controller.engine.decide(lambda _: Decision(answer=None))

        monkeypatch.setattr(controller, "fleet", Logs())
        post = controller.engine.post
        post(NodeJoined(node=BIG, cpu_job_slots=4, runs=()))
        post(GpusSeen(node=BIG, gpus=(Gpu(uuid=GpuUuid("B0"), index=0),)))
        post(StartForced(job=JOB, node=BIG, gpus=(GpuUuid("B0"),), by="eve"))
        post(Reported(node=BIG, report=JobStarted(job=JOB, attempt=1, pid=7, started_at=1000.0)))
        post(QueueStopped(by="eve"))
        end = JobExited(job=JOB, attempt=1, exit_code=None, signal=15, started_at=1000.0, ended_at=1000.0, pid=7)
        post(Reported(node=BIG, report=end))
        await settled()
        assert await log() == b"big", "it waits in the queue again"
        post(StartForced(job=JOB, node=DESK, gpus=(GpuUuid("G0"),), by="eve"))
        await settled()
        assert [await log(), await log("?attempt=1"), await log("?attempt=2")] == [b"desk", b"big", b"desk"]

    with_controller(tmp_path, story)


class LateLog(Logs):
    """The job starts and ends just after its log was found missing."""

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self._controller = controller
        self._is_there = False

    async def ask(self, node: NodeName, frame: Any) -> dict[str, Any]:
        if self._is_there:
            return await super().ask(node, frame)
        self._is_there = True
        post = self._controller.engine.post
        post(StartForced(job=JOB, node=DESK, gpus=(GpuUuid("G0"),), by="eve"))
        post(Reported(node=DESK, report=JobStarted(job=JOB, attempt=1, pid=7, started_at=1000.0)))
        end = JobExited(job=JOB, attempt=1, exit_code=0, signal=None, started_at=1000.0, ended_at=1000.0, pid=7)
        post(Reported(node=DESK, report=end))
        await self._controller.engine.decide(lambda _: Decision(answer=None))
        return {"type": "log", "error": "No such file or directory", "is_missing": True}


@pytest.mark.parametrize("query", ["", "?follow=1"])
def test_a_job_that_runs_while_its_log_is_looked_for_has_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    async def story(controller: Controller) -> None:
        monkeypatch.setattr(controller, "fleet", LateLog(controller))
        answer = await send(controller, "GET", f"/jobs/1/log{query}")
        assert answer is not None
        assert (answer.status, answer.body) == (200, b"desk")

    with_controller(tmp_path, story)


@pytest.mark.parametrize("query", ["?attempt=2", "?attempt=2&follow=1", "?attempt=99&lines=3"])
def test_an_attempt_that_never_was_is_not_called_removed(api: Served, query: str) -> None:
    (job,) = api.ids({"shell": "echo hi", "gpus": 0})
    api.until(job, "succeeded")
    status, answer = api.ask("GET", f"/jobs/{job}/log{query}")
    assert (status, answer["error"]["message"]) == (404, f"job {job} has 1 attempt")


def test_an_attempt_of_a_job_that_has_not_started(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0}, entry="held")
    status, answer = api.ask("GET", f"/jobs/{job}/log?attempt=1")
    assert (status, answer["error"]["message"]) == (404, f"job {job} has 0 attempts")


def test_stderr_of_a_merged_log_is_refused(api: Served, tmp_path: Path) -> None:
    merged = {"shell": "echo out; echo oops >&2", "gpus": 0}
    to_one_file = {**merged, "stdout": str(tmp_path / "out")}
    for request in (merged, to_one_file, {**merged, "log": str(tmp_path / "log")}):
        (job,) = api.ids(request)
        api.until(job, "succeeded")
        status, answer = api.ask("GET", f"/jobs/{job}/log?stream=stderr")
        assert (status, answer["error"]["key"]) == (400, "log.merged")
        assert api.ask("GET", f"/jobs/{job}/log")[1] == b"out\noops\n"


def test_separate_stderr_is_printed_alone(api: Served, tmp_path: Path) -> None:
    (job,) = api.ids({"shell": "echo out; echo oops >&2", "gpus": 0, "stderr": str(tmp_path / "err")})
    api.until(job, "succeeded")
    assert api.ask("GET", f"/jobs/{job}/log?stream=stderr")[1] == b"oops\n"
    assert api.ask("GET", f"/jobs/{job}/log?stream=stderr&attempt=1")[1] == b"oops\n"


def test_a_missing_file_is_only_called_missing(api: Served, tmp_path: Path) -> None:
    (job,) = api.ids({"shell": "echo out", "gpus": 0, "log": str(tmp_path / "log")})
    api.until(job, "succeeded")
    (tmp_path / "log").unlink()
    status, answer = api.ask("GET", f"/jobs/{job}/log")
    assert status == 404
    assert answer["error"]["message"] == f"the output of job {job} is missing: {tmp_path / 'log'} does not exist"
    assert "who" not in answer["error"]["hint"]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "ü", "a\tb", "a\x7fb", "\U0001f600"])
def test_a_log_may_have_any_name(api: Served, tmp_path: Path, name: str) -> None:
    (job,) = api.ids({"command": ["echo", "hello"], "gpus": 0, "log": str(tmp_path / name)})
    api.until(job, "succeeded")
    answer = api.get(f"/jobs/{job}/log")
    assert answer.read() == b"hello\n"
    assert unquote(answer.headers["Tarmac-Log-Path"]) == str(tmp_path / name)


@pytest.mark.parametrize("also", ["lines=0", "offset=0", "since_s=60", "follow=1"])
def test_an_error_is_not_combined_with_other_parts(api: Served, also: str) -> None:
    (job,) = api.ids({"shell": "echo 'ValueError: x'; exit 1", "gpus": 0})
    api.until(job, "failed")
    status, answer = api.ask("GET", f"/jobs/{job}/log?error=1&{also}")
    assert (status, answer["error"]["key"]) == (400, "log.error_alone")
