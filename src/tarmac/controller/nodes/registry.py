"""The nodes that people added: stored, connected, changed and removed. The only writer of the stored list."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tarmac.controller.engine.decision import Decision
from tarmac.controller.nodes.auth_socket import AuthSocket
from tarmac.controller.nodes.entries import SETTING, NodeEntry, read_entries, stored_text
from tarmac.controller.nodes.link_failures import refused_link
from tarmac.controller.nodes.log_fetch import fetch_logs
from tarmac.controller.settings.node_entries import NAME
from tarmac.core.events import NodeAdded, NodeForgotten, NodeLeft, NodeRemoved
from tarmac.core.model.ids import NodeName
from tarmac.nodes.link import NoAnswer
from tarmac.nodes.ssh.adaptation import moved
from tarmac.nodes.ssh.connector import SshConnector, end_agent
from tarmac.nodes.ssh.failure import LinkFailed
from tarmac.nodes.ssh.target import resolved_host
from tarmac.refusal import conflict, invalid, not_found
from tarmac.shared.system.proc import read_boot_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tarmac.controller.controller import Controller
    from tarmac.controller.engine.decision import Plan
    from tarmac.core.events import Event
    from tarmac.core.state import State
    from tarmac.nodes.ssh.joined import Joined

log = logging.getLogger(__name__)

T = TypeVar("T")

HOST = re.compile(r"[^\s\-@/][^\s@/]{0,254}")  # never an option of `ssh`
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.$@\\-]{0,63}")
ADDRESS = re.compile(r"[^\s,@/-][^\s,@/]{0,254}")  # jobs get a list of them, with commas between
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
MOST_NODES = 200
END_WITHIN_S = 5.0


class NodeRegistry:
    def __init__(self, controller: Controller, identity: str, stored: str | None) -> None:
        """`identity` is the id under which nodes keep this controller's agents."""
        self._controller = controller
        self._identity = identity
        self._connectors: dict[str, SshConnector] = {}
        self._notes: set[asyncio.Task[None]] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # one change of a node at a time
        self.entries = read_entries(stored)
        self.auth_socket = AuthSocket(self._try_refused)

    def begin(self) -> None:
        """Connect to all stored nodes."""
        for entry in self.entries.values():
            self._controller.state.add_node(NodeName(entry.name), is_watch_only=entry.watch_only)
            self._connect(entry)

    def of(self, name: str) -> NodeEntry:
        """Raises Refused for nodes that the config file lists, and for the home node: they are not changed here."""
        if (entry := self.entries.get(name)) is not None:
            return entry
        if self._controller.fleet.get(NodeName(name)) is not None:
            raise invalid("node.of_config", node=name)
        raise not_found("node.unknown", node=name, known=[session.name for session in self._controller.fleet])

    def joined(self, name: str) -> Joined | None:
        """What the node said when its link last began; None if it never joined, or is not reached over SSH."""
        connector, entry = self._connectors.get(name), self.entries.get(name)
        now = None if connector is None else connector.joined
        return now or (None if entry is None else entry.joined)

    def path_on(self, node: str | None, path: str) -> str:
        """Where a file of Tarmac is that the controller names as if it were in its own state directory."""
        joined = self.joined(node) if node is not None and node in self.entries else None
        return path if joined is None else moved(path, str(self._controller.state_folder), joined.state)

    async def add(self, entry: NodeEntry, *, is_later: bool) -> NodeEntry:
        """`is_later`: also if it cannot be reached now."""
        self._check(entry)
        entry = msgspec.structs.replace(entry, resolved=await resolved_host(entry.target))
        if not is_later:
            entry = msgspec.structs.replace(entry, joined=await self._try(entry))
        async with self._turns[entry.name]:
            await self._store(lambda _: self._with_new(entry), entry)
            self._connect(entry)
        return entry

    async def change(self, name: str, given: Mapping[str, Any]) -> NodeEntry:
        """`given`: fields of the entry. Connects again if the way to it changed."""
        self.of(name)
        async with self._turns[name]:
            before = self.of(name)
            changed = msgspec.structs.replace(before, **given)
            _check_words(changed)
            if changed.user != before.user:  # another account has another agent, which knows nothing of them
                refuse_busy(self._controller.state, NodeName(name))
            if changed.target != before.target:
                await self._refuse_another_machine(changed)
            changed = msgspec.structs.replace(changed, resolved=await resolved_host(changed.target))
            await self._store(lambda _: {**self.entries, name: changed}, changed)
            if (before.target, before.environment) != (changed.target, changed.environment):
                await self._disconnect(name)
                self._connect(changed)
            elif (session := self._controller.fleet.get(NodeName(name))) is not None:
                session.address = _address(changed)
        return changed

    async def _refuse_another_machine(self, changed: NodeEntry) -> None:
        """While jobs run on a node, it stays the same machine: another one would know nothing of them."""
        known, node = self.joined(changed.name), self._controller.state.nodes.get(NodeName(changed.name))
        if known is not None and node is not None and node.host:
            now = await self._try(changed, known.boot_id)
            assert now.boot_id == known.boot_id, "another machine is refused"

    async def remove(self, name: str, answer: Callable[[int], T], decide: Callable[[Plan[T]], Awaitable[T]]) -> T:
        """Remove a node without jobs, and end its agent. The answer is about the logs that were copied from it."""
        node, copied = NodeName(name), 0

        def plan(state: State) -> Decision[T]:
            refuse_busy(state, node)
            return self._decision(self._without(name), [NodeRemoved(node=node)], answer(copied))

        self.of(name)
        async with self._turns[name]:
            entry = self.of(name)
            refuse_busy(self._controller.state, node)
            if jobs := self._controller.fetches.under_way_from(node):
                raise conflict("node.has_fetches", node=name, jobs=jobs)
            session = self._controller.fleet.get(node)
            if session is not None and session.is_connected:
                copied = await fetch_logs(self._controller, node)
                with suppress(NoAnswer, TimeoutError):
                    async with asyncio.timeout(END_WITHIN_S):
                        await session.ask({"type": "shutdown"})
            return await self._leave(entry, lambda: decide(plan))

    async def forget(
        self, name: str, by: str, answer: Callable[[list[int]], T], decide: Callable[[Plan[T]], Awaitable[T]]
    ) -> T:
        """Remove a node that is gone for good. The answer is about its jobs: nobody knows how they ended."""
        node = NodeName(name)

        def plan(state: State) -> Decision[T]:
            jobs: list[int] = sorted(state.node(node).host)
            return self._decision(self._without(name), [NodeForgotten(node=node, by=by)], answer(jobs))

        self.of(name)
        async with self._turns[name]:
            entry = self.of(name)
            if self._controller.fleet.is_connected(node):
                raise conflict("node.is_connected", node=name)
            return await self._leave(entry, lambda: decide(plan))

    async def _leave(self, entry: NodeEntry, decide: Callable[[], Awaitable[T]]) -> T:
        """Disconnect first, so that no late report of the node brings it back. Connect again if that is refused."""
        await self._disconnect(entry.name)
        try:
            answer = await decide()
        except BaseException:
            self._connect(entry)
            raise
        self._controller.readings.forget(NodeName(entry.name))
        return answer

    # The stored list

    def _with_new(self, entry: NodeEntry) -> dict[str, NodeEntry]:
        self._check(entry)  # another request may have added it meanwhile
        return {**self.entries, entry.name: entry}

    def _without(self, name: str) -> dict[str, NodeEntry]:
        self.of(name)  # another request may have removed it meanwhile
        return {other: entry for other, entry in self.entries.items() if other != name}

    async def _store(self, changed: Callable[[State], dict[str, NodeEntry]], entry: NodeEntry) -> None:
        event = NodeAdded(node=NodeName(entry.name), is_watch_only=entry.watch_only)
        await self._controller.engine.decide(lambda state: self._decision(changed(state), [event], None))

    def _decision(self, entries: dict[str, NodeEntry], events: list[Event], answer: T) -> Decision[T]:
        def install() -> Callable[[], None]:
            before, self.entries = self.entries, entries

            def undo() -> None:
                self.entries = before

            return undo

        return Decision(answer=answer, events=events, settings={SETTING: stored_text(entries)}, install=install)

    def _check(self, entry: NodeEntry) -> None:
        _check_words(entry)
        if self._controller.fleet.get(NodeName(entry.name)) is not None:
            raise conflict("node.exists", node=entry.name)
        if len(self.entries) >= MOST_NODES:
            raise invalid("node.too_many", most=MOST_NODES)

    # Links

    def _connector(self, entry: NodeEntry, check: Callable[[Joined], None] = lambda _: None) -> SshConnector:
        return SshConnector(
            entry.name,
            entry.target,
            controller=self._identity,
            state_folder=self._controller.state_folder,
            environment=entry.environment,
            auth_socket=lambda: self.auth_socket.path,
            on_joined=lambda joined: self._note_joined(entry.name, joined),
            check=check,
        )

    def _note_joined(self, name: str, joined: Joined) -> None:
        """Store what is shown of the node while it is away."""
        entry = self.entries.get(name)
        known = msgspec.structs.replace(joined, started_pid=0)
        if entry is None or entry.joined == known:
            return

        def plan(_: State) -> Decision[None]:
            if name not in self.entries:
                return Decision(answer=None)
            noted = msgspec.structs.replace(self.entries[name], joined=known)
            return self._decision({**self.entries, name: noted}, [], None)

        task = asyncio.get_running_loop().create_task(self._controller.engine.decide(plan))
        self._notes.add(task)
        task.add_done_callback(self._noted)

    def _noted(self, task: asyncio.Task[None]) -> None:
        self._notes.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("what a node said is not stored: %s", error)  # the next link says it again

    async def _try(self, entry: NodeEntry, boot_id: str | None = None) -> Joined:
        """Connect once. Raises Refused with what is wrong. `boot_id`: that of the only machine that is right."""
        connector = self._connector(entry)
        try:
            with await connector.open() as link:
                assert connector.joined is not None
                if boot_id not in {None, connector.joined.boot_id}:
                    if connector.joined.started_pid:
                        await end_agent(link)
                    raise conflict("node.another_machine", node=entry.name, host=entry.host)
                if (other := self._other_name(entry.name, connector.joined)) is not None:
                    if connector.joined.started_pid:
                        await end_agent(link)
                    raise conflict("node.same_machine", node=entry.name, other=other)
        except OSError as failure:
            raise refused_link(failure, entry.host) from None
        finally:
            connector.close()
        return connector.joined

    def _other_name(self, name: str, joined: Joined) -> str | None:
        """The node that this machine is already: its GPUs would be booked twice."""
        fleet = self._controller.fleet
        known = {read_boot_id(): str(fleet.home.name)}
        for other in (str(one.name) for one in fleet if one.name != name):
            before = self.joined(other)  # it may be away
            boot_id = fleet.boot_id(NodeName(other)) or (None if before is None else before.boot_id)
            known |= {} if boot_id is None else {boot_id: other}
        return known.get(joined.boot_id)

    def _connect(self, entry: NodeEntry) -> None:
        """A node that is added later may turn out to be one that is known."""

        def check(joined: Joined) -> None:
            if (other := self._other_name(entry.name, joined)) is not None:
                raise LinkFailed("same-machine", other)

        connector = self._connectors[entry.name] = self._connector(entry, check)
        joined = entry.joined
        self._controller.add_node(
            NodeName(entry.name),
            connector,
            kind="ssh",
            address=_address(entry),
            boot_id=None if joined is None else joined.boot_id,
        )

    async def _disconnect(self, name: str) -> None:
        """A session that is removed does not report that its node left."""
        node, fleet = NodeName(name), self._controller.fleet
        was_connected = fleet.is_connected(node)
        self._connectors.pop(name, None)
        await fleet.remove(node)
        if was_connected:
            self._controller.engine.post(NodeLeft(node=node))

    def try_now(self, name: str) -> None:
        """Don't wait before the next try to reach it."""
        session = self._controller.fleet.get(NodeName(name))
        if session is not None:
            session.try_now()

    def _try_refused(self) -> None:
        """Another ssh-agent may have the key that was missing."""
        for name in self._connectors:
            session = self._controller.fleet.get(NodeName(name))
            if session is not None and isinstance(session.failure, LinkFailed) and session.failure.kind == "login":
                session.try_now()


def _check_words(entry: NodeEntry) -> None:
    if not NAME.fullmatch(entry.name):
        raise invalid("node.name_invalid", name=entry.name)
    if not HOST.fullmatch(entry.host):
        raise invalid("node.host_invalid", host=entry.host)
    if entry.user is not None and not USER.fullmatch(entry.user):
        raise invalid("node.user_invalid", user=entry.user)
    if entry.address is not None and not ADDRESS.fullmatch(entry.address):
        raise invalid("node.address_invalid", address=entry.address)
    for name, value in entry.environment.items():
        if not VARIABLE.fullmatch(name) or "\0" in value:
            raise invalid("node.variable_invalid", name=name)


def _address(entry: NodeEntry) -> str:
    """Where other nodes reach it."""
    return entry.address or entry.resolved or entry.host


def refuse_busy(state: State, node: NodeName) -> None:
    if node in state.nodes and (jobs := sorted(state.nodes[node].host)):
        raise conflict("node.has_jobs", node=node, jobs=jobs)
