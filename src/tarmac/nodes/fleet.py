"""All nodes by name: the only way frames reach an agent."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from tarmac.nodes.link import Silent, Unreachable
from tarmac.refusal import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.session import AgentSession
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import AttemptFrame, QuestionFrame

log = logging.getLogger(__name__)

FAILED_RETRY_S = 2.0
JOINS_WITHIN_S = 10.0  # a node that has not joined by then is unreachable
RETURNS_WITHIN_S = 2.0  # an agent that is replaced is back by then
REFUSED_AFTER_S = 3.0  # a loaded machine may be slow, and a refusal is final


class Fleet:
    """The sessions of all configured nodes. The first one added is the home node: the controller's own machine."""

    def __init__(self) -> None:
        self._sessions: dict[NodeName, AgentSession] = {}
        self._runs: dict[NodeName, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None  # while it runs

    def add(self, session: AgentSession) -> None:
        self._sessions[session.name] = session
        if self._tasks is not None:
            self._begin(session)

    async def remove(self, node: NodeName) -> None:
        """End the connection to a node for good. Its agent goes on."""
        del self._sessions[node]
        run = self._runs.pop(node, None)
        if run is not None:
            run.cancel()
            await asyncio.wait({run})

    def __iter__(self) -> Iterator[AgentSession]:
        return iter(self._sessions.values())

    def get(self, node: NodeName) -> AgentSession | None:
        return self._sessions.get(node)

    def has(self, node: NodeName) -> bool:
        return node in self._sessions

    @property
    def home(self) -> AgentSession:
        return next(iter(self._sessions.values()))

    @property
    def is_ending(self) -> bool:
        """True if agents were asked to end and can be expected to: a silent one ends only when it continues."""
        return any(session.is_ending and session.silent_s is None for session in self)

    def is_connected(self, node: NodeName) -> bool:
        session = self.get(node)
        return session is not None and session.is_connected

    def is_elsewhere(self, node: NodeName) -> bool:
        """True for another machine, which has no files of the controller."""
        session = self.get(node)
        return session is not None and session.is_elsewhere

    def address(self, node: NodeName) -> str | None:
        """Where other machines reach the node; None if it is this machine."""
        session = self.get(node)
        return None if session is None else session.address

    def boot_id(self, node: NodeName) -> str | None:
        """Identifies the machine's current boot; None while its agent is not connected."""
        session = self.get(node)
        return None if session is None or session.hello is None else session.hello.boot_id

    async def check_liveness(self) -> None:
        """Make sure that `silent_s` is true of all agents. Takes less than a second."""
        await asyncio.gather(*(session.check_liveness() for session in self))

    def silent_s(self, node: NodeName) -> float | None:
        """How long ago its agent was heard of, if the agent is connected and does not answer."""
        session = self.get(node)
        return None if session is None else session.silent_s

    def away_s(self, node: NodeName) -> float | None:
        """How long a node has been unreachable; None if it is connected, or just left or is about to join."""
        session = self.get(node)
        away_s = None if session is None else session.away_s
        if session is None or away_s is None:
            return None
        return away_s if away_s > (RETURNS_WITHIN_S if session.is_lost else JOINS_WITHIN_S) else None

    def stale_s(self, node: NodeName) -> float | None:
        """How old readings of this node are, if its agent is silent or was lost."""
        session = self.get(node)
        if session is None:
            return None
        return session.away_s if session.is_lost else session.silent_s

    async def refuse_silence(self, node: NodeName) -> None:
        """Refuse a request that a silent agent would have to answer, without waiting for it."""
        session = self.get(node)
        if session is not None:
            await session.check_liveness(REFUSED_AFTER_S)
            if session.silent_s is not None:
                raise unavailable("agent.silent", node=self._named(node))

    def _named(self, node: NodeName) -> NodeName | None:
        """For messages: None if there is only one."""
        return node if len(self._sessions) > 1 else None

    async def run(self) -> None:
        """Keep a connection to every agent. Returns once all agents were asked to end and are gone."""
        async with asyncio.TaskGroup() as self._tasks:
            for session in self:
                self._begin(session)

    def _begin(self, session: AgentSession) -> None:
        assert self._tasks is not None
        self._runs[session.name] = self._tasks.create_task(_supervise(session))

    # Frames

    def admit(self, node: NodeName) -> None:
        if (session := self.get(node)) is not None:
            session.admit()

    def send_command(self, node: NodeName, frame: AttemptFrame) -> None:
        """Send a command, but only after the core handled the join of the node's current connection."""
        if (session := self.get(node)) is not None:
            session.send_command(frame)

    def send_at_once(self, node: NodeName, frame: AttemptFrame) -> bool:
        """Send a signal that was not decided by the core. False if the node is not connected."""
        session = self.get(node)
        if session is None or not session.is_connected:
            return False
        session.send(frame)
        return True

    async def ask(self, node: NodeName, frame: QuestionFrame) -> AnyFrame:
        """The node's answer. Raises Refused if it is unknown, unreachable, or does not answer."""
        session = self.get(node)
        if session is None:
            raise unavailable("node.not_configured", node=node)
        named = self._named(node)
        try:
            return await session.ask(frame)
        except Unreachable:
            raise unavailable("agent.unreachable", node=named) from None
        except Silent:
            raise unavailable("agent.silent", node=named) from None

    def disconnect(self) -> None:
        for session in self:
            session.disconnect()

    # The end

    def end_agents(self) -> None:
        for session in self:
            session.end_agent()

    async def ask_agents_to_end(self, within_s: float) -> int:
        """End all agents for good. Returns the number of jobs they first wait for, because they are being stopped."""
        return sum(await asyncio.gather(*(session.ask_agent_to_end(within_s) for session in self)))


async def _supervise(session: AgentSession) -> None:
    """Run a session, again if it fails: the trouble of one node must not become that of all others."""
    while not session.is_ending:
        try:
            await session.run()
        except Exception:
            log.exception("the session with the agent of %s failed", session.name)
            await asyncio.sleep(FAILED_RETRY_S)
