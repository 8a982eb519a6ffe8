"""What is asked of the agent about a process that is adopted."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.routes.job import adopt
from tarmac.controller.controller import Controller
from tarmac.controller.notify.choice import NotificationChoice
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.status import Starting
from tarmac.nodes.facts import Process
from tarmac.nodes.fleet import Fleet
from tarmac.refusal import Refused
from tests.api.asgi import ask, with_controller

DESK = NodeName("desk")


class AnsweringFleet(Fleet):
    """Answers one question after the other; None: the process does not exist."""

    def __init__(self, *processes: dict[str, Any] | None, agent_uid: int = 1000) -> None:
        super().__init__()
        self._answers: Iterator[dict[str, Any] | None] = iter(processes)
        self._agent_uid = agent_uid

    async def ask(self, node: NodeName, frame: Any) -> dict[str, Any]:
        assert (node, frame) == (DESK, {"type": "describe_processes", "pids": [42]})
        process = next(self._answers)
        return {"boot_id": "b", "agent_uid": self._agent_uid, "processes": [] if process is None else [process]}


def process(*command: str, uid: int = 1000, cwd: str | None = "/data") -> dict[str, Any]:
    return {"pid": 42, "start_time": 7, "uid": uid, "name": "kworker", "command": list(command), "cwd": cwd}


def described(*answers: dict[str, Any] | None, agent_uid: int = 1000, caller_uid: int = 1000) -> Process:
    fleet: Any = AnsweringFleet(*answers, agent_uid=agent_uid)
    return asyncio.run(adopt._describe(fleet, DESK, 42, caller_uid))


def test_a_process_in_the_middle_of_exec_is_read_again() -> None:
    assert described(process(), process(), process("sleep", "60")).command == ["sleep", "60"]


def test_a_process_without_arguments_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopt, "LOOK_AGAIN_S", 0)
    found = described(*[process()] * adopt.LOOKS)
    assert adopt._spec(adopt.AdoptRequest(pid=42), found, "ann", "e0", 0, NotificationChoice((), ())).command == (
        "kworker",
    )


@pytest.mark.parametrize(
    ("answers", "key"),
    [
        ([None], "process.unknown"),
        ([process(), None], "adopt.ended"),
        ([process("sleep", cwd=None)], "adopt.ended"),
        ([process("sleep", uid=1)], "adopt.not_owner"),
    ],
)
def test_a_process_that_cannot_be_adopted_is_refused(answers: list[dict[str, Any] | None], key: str) -> None:
    with pytest.raises(Refused) as caught:
        described(*answers)
    assert caught.value.key == key


def test_an_agent_that_runs_as_root_adopts_processes_of_every_user() -> None:
    assert described(process("sleep", uid=1), agent_uid=0, caller_uid=1).uid == 1


def test_only_its_owner_and_root_may_adopt_a_process() -> None:
    assert described(process("sleep"), caller_uid=0).uid == 1000
    with pytest.raises(Refused) as caught:
        described(process("sleep", uid=1), agent_uid=0, caller_uid=1000)
    assert caught.value.key == "adopt.not_owner"


def test_the_adoption_pins_the_process_that_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(controller: Controller) -> None:
        monkeypatch.setattr(controller, "fleet", AnsweringFleet(process("sleep", "60")))
        status, answer = await ask(controller, "POST", "/adopt", {"pid": 42})
        assert status == 201, answer
        starting = controller.state.jobs[JobId(answer["id"])].status
        assert isinstance(starting, Starting)
        assert (starting.adopted_pid, starting.adopted_start_time, starting.adopted_uid) == (42, 7, 1000)

    with_controller(tmp_path, story)
