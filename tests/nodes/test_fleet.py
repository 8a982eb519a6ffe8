"""Frames go to the node they name, and to no other."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tarmac.core.model.ids import NodeName
from tarmac.nodes.fleet import Fleet
from tarmac.nodes.link import Silent, Unreachable
from tarmac.refusal import Refused

DESK, BIG, NONE = NodeName("desk"), NodeName("big"), NodeName("none")


class RecordingSession:
    def __init__(self, name: NodeName, stops: int = 0) -> None:
        self.name = name
        self.frames: list[Any] = []
        self.is_ending = self.is_connected = self.is_admitted = False
        self.hello = None
        self.silent_s: float | None = None
        self.runs = 0
        self.has_run_again = asyncio.Event()
        self._ended = asyncio.Event()
        self._stops = stops

    def send(self, frame: Any) -> None:
        self.frames.append(frame)

    def admit(self) -> None:
        self.is_admitted = True

    def send_command(self, frame: Any) -> None:
        if self.is_admitted:
            self.send(frame)

    async def ask(self, frame: Any) -> dict[str, Any]:
        return {"type": "pong", "from": self.name}

    async def run(self) -> None:
        self.runs += 1
        if self.runs == 1 and self.name == BIG:
            raise ZeroDivisionError
        self.has_run_again.set()
        await self._ended.wait()

    async def ask_agent_to_end(self, within_s: float) -> int:
        self.is_ending = True
        self._ended.set()
        return self._stops


def play(story: Callable[[Fleet, RecordingSession, RecordingSession], Awaitable[None]]) -> None:
    fleet, desk, big = Fleet(), RecordingSession(DESK, stops=1), RecordingSession(BIG, stops=2)
    for session in (desk, big):
        fleet.add(session)  # type: ignore[arg-type]
    asyncio.run(story(fleet, desk, big))  # type: ignore[arg-type]


def test_a_question_reaches_the_node_it_names() -> None:
    async def story(fleet: Fleet, desk: RecordingSession, _: RecordingSession) -> None:
        assert (await fleet.ask(BIG, {"type": "ping"}))["from"] == BIG
        assert fleet.home is desk

    play(story)


def test_a_node_gets_commands_once_its_own_join_was_handled() -> None:
    async def story(fleet: Fleet, desk: RecordingSession, big: RecordingSession) -> None:
        fleet.admit(BIG)
        for node in (DESK, BIG, NONE):
            fleet.send_command(node, {"type": "forget", "job": 1, "attempt": 1})
        assert (len(desk.frames), len(big.frames)) == (0, 1)

    play(story)


def test_a_node_that_is_not_configured_cannot_be_asked() -> None:
    async def story(fleet: Fleet, *_: RecordingSession) -> None:
        with pytest.raises(Refused) as caught:
            await fleet.ask(NONE, {"type": "ping"})
        assert (caught.value.kind, caught.value.key) == ("unavailable", "node.not_configured")
        assert not fleet.is_connected(NONE)
        assert fleet.boot_id(NONE) is None

    play(story)


def test_all_agents_are_asked_to_end() -> None:
    async def story(fleet: Fleet, desk: RecordingSession, big: RecordingSession) -> None:
        assert not fleet.is_ending
        assert await fleet.ask_agents_to_end(1.0) == 3
        assert (desk.is_ending, big.is_ending, fleet.is_ending) == (True, True, True)

    play(story)


def test_a_session_that_fails_is_run_again_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.nodes.fleet.FAILED_RETRY_S", 0)

    async def story(fleet: Fleet, desk: RecordingSession, big: RecordingSession) -> None:
        supervision = asyncio.ensure_future(fleet.run())
        async with asyncio.timeout(10):
            await big.has_run_again.wait()
            await fleet.ask_agents_to_end(1.0)
            await supervision
        assert (desk.runs, big.runs) == (1, 2)

    play(story)


@pytest.mark.parametrize(("error", "key"), [(Unreachable, "agent.unreachable"), (Silent, "agent.silent")])
def test_an_agent_that_does_not_answer_is_named_if_there_are_several(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], key: str
) -> None:
    async def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(RecordingSession, "ask", fail)
    fleet = Fleet()
    for name, named in ((DESK, None), (BIG, BIG)):
        fleet.add(RecordingSession(name))  # type: ignore[arg-type]
        with pytest.raises(Refused) as caught:
            asyncio.run(fleet.ask(name, {"type": "ping"}))
        assert (caught.value.key, caught.value.values) == (key, {"node": named})
