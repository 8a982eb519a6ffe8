"""How committed commands reach a node: in which order, and what happens when one fails."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.controller.dispatcher import Dispatcher
from tarmac.core.commands import AdoptProcess, ForgetRun, Notify, SignalJob, StartJob
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.note import note
from tests.core.support.builders import BOX, a_booking, a_job, a_node, a_state, a_status


class Wire:
    """A fleet that only notes which frames it is given."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int]] = []
        self.frames: list[Any] = []

    def send_command(self, _: NodeName, frame: Any) -> None:
        self.sent.append((frame["type"], frame["job"]))
        self.frames.append(frame)


def test_starts_are_sent_before_everything_else_and_the_rest_in_its_order() -> None:
    wire, box = Wire(), NodeName(BOX)
    reader: Any = SimpleNamespace(environment=lambda _: {})
    settings: Any = SimpleNamespace(in_force=SimpleNamespace(gpu_id_style="index"))
    dispatcher = Dispatcher(wire, reader, Path("/state"))  # type: ignore[arg-type]
    commands = [
        ForgetRun(node=box, job=JobId(1), attempt=1),
        StartJob(job=JobId(2), attempt=1, booking=a_booking(0)),
        SignalJob(node=box, job=JobId(2), attempt=1, signal=15, grace_s=1.0),
        StartJob(job=JobId(3), attempt=1, booking=a_booking(1)),
    ]
    dispatcher.carry_out(commands, a_state(a_node(), jobs=(a_job(2), a_job(3))), settings)
    assert wire.sent == [("start", 2), ("start", 3), ("forget", 1), ("signal", 2)]


def test_an_adoption_names_the_process_by_its_start_time_and_user() -> None:
    wire = Wire()
    dispatcher = Dispatcher(wire, SimpleNamespace(), Path("/state"))  # type: ignore[arg-type]
    command = AdoptProcess(node=NodeName(BOX), job=JobId(1), attempt=1, pid=77, start_time=5, uid=1000)
    job = a_job(1, status=a_status("starting"))
    dispatcher.carry_out([command], a_state(a_node(), jobs=(job,)), SimpleNamespace())  # type: ignore[arg-type]
    (frame,) = wire.frames
    assert frame.pop("origin")["identity"] == repr(job.submitted_at)
    assert frame == {"type": "adopt", "job": 1, "attempt": 1, "pid": 77, "start_time": 5, "uid": 1000}


def test_a_command_that_fails_is_logged_with_its_job_and_the_others_are_carried_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def break_down(_: object) -> str:
        raise KeyError("no template")

    wire, box = Wire(), NodeName(BOX)
    settings: Any = SimpleNamespace(in_force=SimpleNamespace(notify_command=""))
    dispatcher = Dispatcher(wire, SimpleNamespace(), Path("/state"), break_down)  # type: ignore[arg-type]
    commands = [
        Notify(what="job-warned", message=note("warning.idle", seconds=1.0), job=JobId(7)),
        ForgetRun(node=box, job=JobId(1), attempt=1),
    ]
    dispatcher.carry_out(commands, a_state(a_node()), settings)
    assert wire.sent == [("forget", 1)]
    assert "job 7: Notify failed" in caplog.text
    assert "no template" in caplog.text
