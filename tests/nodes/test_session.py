"""A session with a peer that plays the agent on the real socket."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tarmac import __version__
from tarmac.core.events import Event, NodeJoined, NodeLeft
from tarmac.core.model.ids import NodeName
from tarmac.nodes.local import LocalConnector
from tarmac.nodes.node_clock import NodeClock
from tarmac.nodes.reports import GpuReading
from tarmac.nodes.session import AgentSession
from tarmac.shared import protocol
from tarmac.shared.system import boot_clock, sockets


class Posted:
    """What the session posted."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.readings: list[list[GpuReading]] = []
        self.renewals = 0
        self.changed = asyncio.Event()

    def post(self, event: Event) -> None:
        self.events.append(event)
        self.changed.set()

    def take(self, _: NodeName, readings: list[GpuReading], *__: Any) -> None:
        self.readings.append(readings)

    def renew(self, *_: Any) -> None:
        self.renewals += 1

    async def until(self, kind: type) -> Any:
        async with asyncio.timeout(10):
            while not any(isinstance(event, kind) for event in self.events):
                self.changed.clear()
                await self.changed.wait()
        return next(event for event in self.events if isinstance(event, kind))


class PlayedAgent:
    """Takes one connection after the other and answers hello."""

    def __init__(self, state_folder: Path, host: str = "desk") -> None:
        (state_folder / "agent").mkdir(exist_ok=True)
        self._listener = sockets.listen(str(state_folder / "agent" / "agent.sock"))
        self._host = host
        self.received: list[str] = []
        self.runs: list[dict[str, Any]] = []  # for the next hello
        self.has_start = asyncio.Event()
        self.writer: asyncio.StreamWriter | None = None

    async def serve(self) -> asyncio.Server:
        return await asyncio.start_unix_server(self._talk, sock=self._listener)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        decoder = protocol.Decoder()
        while data := await reader.read(65536):
            for frame in decoder.feed(data):
                self.received.append(frame["type"])
                if frame["type"] == "start":
                    self.has_start.set()
                if frame["type"] == "hello":
                    writer.write(protocol.encode(self._hello()))
        writer.close()

    async def hang_up(self) -> None:
        assert self.writer is not None
        self.writer.close()
        await self.writer.wait_closed()

    def _hello(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "protocol": protocol.PROTOCOL,
            "version": __version__,
            "node": self._host,
            "boot_id": "b",
            "pid": os.getpid(),
            "cpus": 2,
            "memory_bytes": 1,
            "containment": "scan",
            "runs": self.runs,
            "at": time.time(),
            "boot_s": boot_clock.seconds(),
        }


def play(
    folder: Path,
    story: Callable[[AgentSession, PlayedAgent, Posted], Awaitable[None]],
    kind: type[AgentSession] = AgentSession,
) -> None:
    async def all_of_it() -> None:
        posted = Posted()
        agent = PlayedAgent(folder)
        server = await agent.serve()
        session = kind(NodeName("desk"), LocalConnector(folder), post=posted.post, readings=posted)
        supervision = asyncio.ensure_future(session.run())
        try:
            await posted.until(NodeJoined)
            await story(session, agent, posted)
        finally:
            supervision.cancel()
            await asyncio.gather(supervision, return_exceptions=True)
            session.disconnect()
            await agent.hang_up()
            server.close()
            await server.wait_closed()

    asyncio.run(all_of_it())


def test_a_command_decided_before_a_connection_joined_is_not_sent_on_it(tmp_path: Path) -> None:
    async def story(session: AgentSession, agent: PlayedAgent, posted: Posted) -> None:
        session.send_command({"type": "forget", "job": 1, "attempt": 1})  # joined, but not taken in yet
        session.admit()
        assert agent.writer is not None
        agent.writer.close()
        await posted.until(NodeLeft)
        posted.events.clear()
        await posted.until(NodeJoined)
        session.send_command({"type": "signal", "job": 1, "attempt": 1})
        session.admit()
        session.send_command({"type": "start", "job": 2, "attempt": 1})
        await asyncio.wait_for(agent.has_start.wait(), 10)
        assert agent.received == ["hello", "hello", "start"]

    play(tmp_path, story)


class ShiftedSession(AgentSession):
    """A session whose wall clock shows `ahead_s` more than the real one."""

    ahead_s = 0.0

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more, clock=NodeClock(lambda: time.time() + self.ahead_s))


def test_ages_of_processes_do_not_follow_a_clock_that_is_set(tmp_path: Path) -> None:
    """The agent does not repeat a reading in which nothing changed."""
    boot_s = boot_clock.seconds()
    process = {"pid": 5, "started_at": time.time(), "start_time": int((boot_s - 60.0) * 100)}
    frame = {"type": "gpus", "gpus": [{"index": 0, "uuid": "GPU-a", "processes": [process]}]}

    async def story(session: AgentSession, agent: PlayedAgent, posted: Posted) -> None:
        assert isinstance(session, ShiftedSession)
        assert agent.writer is not None
        agent.writer.write(protocol.encode(frame) + protocol.encode({"type": "gpus_unchanged"}))
        assert await until(lambda: posted.renewals == 1)
        session.ahead_s = -7200.0
        agent.writer.write(2 * protocol.encode({"type": "gpus_unchanged"}))
        assert await until(lambda: posted.renewals == 2), "and once it was taken again"
        first, second = (readings[0].processes[0].started_at for readings in posted.readings)
        assert first is not None
        assert second is not None
        assert abs(first - second - 7200.0) < 1.0

    play(tmp_path, story, ShiftedSession)


class FailingSession(AgentSession):
    """Its first connection fails in a way that nobody foresaw, once `fail` is set."""

    fail: asyncio.Event | None = None

    async def _converse(self) -> None:
        if self.fail is not None:
            await super()._converse()
            return
        self.fail = asyncio.Event()
        conversation = asyncio.ensure_future(super()._converse())
        await self.fail.wait()
        conversation.cancel()
        raise RuntimeError("unforeseen")


def test_a_session_that_fails_leaves_no_connection_behind(tmp_path: Path) -> None:
    async def story(session: AgentSession, agent: PlayedAgent, posted: Posted) -> None:
        assert isinstance(session, FailingSession)
        assert session.fail is not None
        session.admit()
        first = agent.writer
        assert first is not None
        session.fail.set()
        await posted.until(NodeLeft)
        assert not session.is_connected
        posted.events.clear()
        again = asyncio.ensure_future(session.run())
        try:
            await posted.until(NodeJoined)
            session.send_command({"type": "forget", "job": 1, "attempt": 1})  # the join is not handled yet
            session.send({"type": "unwatch_log", "ref": 1})
            assert await until(lambda: first.is_closing() and "unwatch_log" in agent.received)
            assert agent.received == ["hello", "hello", "unwatch_log"]
            assert [type(event) for event in posted.events] == [NodeJoined], "the old connection's end does not count"
        finally:
            again.cancel()
            await asyncio.gather(again, return_exceptions=True)

    play(tmp_path, story, FailingSession)


def test_an_invalid_hello_is_not_a_join_and_the_session_tries_again(tmp_path: Path) -> None:
    async def story(session: AgentSession, agent: PlayedAgent, posted: Posted) -> None:
        agent.runs = [{"type": "started", "job": "seven"}]
        session.disconnect()
        await posted.until(NodeLeft)
        posted.events.clear()
        assert await until(lambda: agent.received.count("hello") >= 3)
        assert not session.is_connected
        assert posted.events == []
        agent.runs = []
        await posted.until(NodeJoined)
        assert session.is_connected

    play(tmp_path, story)


async def until(is_met: Callable[[], bool]) -> bool:
    async with asyncio.timeout(10):
        while not is_met():  # noqa: ASYNC110 - the conditions are plain values
            await asyncio.sleep(0.01)
    return True
