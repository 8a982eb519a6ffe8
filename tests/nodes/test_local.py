"""The controller's end of this machine, with a peer that plays the agent on the real socket."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tarmac import __version__
from tarmac.core.events import Event, NodeJoined, NodeLeft
from tarmac.nodes.local import LocalNode
from tarmac.shared import protocol, sockets


class Told:
    """What the node said."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.changed = asyncio.Event()

    def post(self, event: Event) -> None:
        self.events.append(event)
        self.changed.set()

    def take_readings(self, *_: Any) -> None: ...

    async def until(self, kind: type) -> Any:
        async with asyncio.timeout(10):
            while not any(isinstance(event, kind) for event in self.events):
                self.changed.clear()
                await self.changed.wait()
        return next(event for event in self.events if isinstance(event, kind))


class PlayedAgent:
    """Takes one connection after the other and answers hello."""

    def __init__(self, state_folder: Path, host: str) -> None:
        (state_folder / "agent").mkdir(exist_ok=True)
        self._listener = sockets.listen(str(state_folder / "agent" / "agent.sock"))
        self._host = host
        self.received: list[str] = []
        self.has_heard_start = asyncio.Event()
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
                    self.has_heard_start.set()
                if frame["type"] == "hello":
                    writer.write(protocol.encode(self._hello()))
        writer.close()

    async def hung_up(self) -> None:
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
            "runs": [],
        }


def play(folder: Path, host: str, story: Callable[[LocalNode, PlayedAgent, Told], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        told = Told()
        agent = PlayedAgent(folder, host)
        server = await agent.serve()
        node = LocalNode(folder, listener=told)
        supervision = asyncio.ensure_future(node.run())
        try:
            await told.until(NodeJoined)
            await story(node, agent, told)
        finally:
            supervision.cancel()
            await asyncio.gather(supervision, return_exceptions=True)
            node.disconnect()
            await agent.hung_up()
            server.close()
            await server.wait_closed()

    asyncio.run(all_of_it())


def test_a_command_decided_under_an_older_connection_is_not_sent_on_a_newer_one(tmp_path: Path) -> None:
    async def story(node: LocalNode, agent: PlayedAgent, told: Told) -> None:
        node.send_command({"type": "forget", "job": 1, "attempt": 1})  # joined, but not taken in yet
        node.admit()
        assert agent.writer is not None
        agent.writer.close()
        await told.until(NodeLeft)
        told.events.clear()
        await told.until(NodeJoined)
        node.send_command({"type": "signal", "job": 1, "attempt": 1})
        node.admit()
        node.send_command({"type": "start", "job": 2, "attempt": 1})
        await asyncio.wait_for(agent.has_heard_start.wait(), 10)
        assert agent.received == ["hello", "hello", "start"]

    play(tmp_path, "desk", story)


def test_a_machine_keeps_its_name_when_somebody_renames_it(tmp_path: Path) -> None:
    async def first(_: LocalNode, __: PlayedAgent, told: Told) -> None:
        assert (await told.until(NodeJoined)).node == "desk"

    async def second(_: LocalNode, __: PlayedAgent, told: Told) -> None:
        assert (await told.until(NodeJoined)).node == "desk"

    play(tmp_path, "desk", first)
    play(tmp_path, "renamed", second)
