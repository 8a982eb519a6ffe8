"""The nodes that people added: stored, connected, changed and removed. The only writer of the stored list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from tarmac.controller.engine.decision import Decision
from tarmac.controller.nodes.auth_socket import AuthSocket
from tarmac.controller.nodes.entries import SETTING, NodeEntry, read_entries, stored_text
from tarmac.controller.nodes.link_failures import refused_link
from tarmac.controller.settings.node_entries import NAME
from tarmac.core.model.ids import NodeName
from tarmac.nodes.ssh.adaptation import moved
from tarmac.nodes.ssh.connector import SshConnector
from tarmac.nodes.ssh.failure import LinkFailed
from tarmac.refusal import conflict, invalid, not_found
from tarmac.shared.system.proc import read_boot_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.controller import Controller
    from tarmac.core.events import Event
    from tarmac.core.state import State
    from tarmac.nodes.ssh.joined import Joined

HOST = re.compile(r"[^\s\-@/][^\s@/]{0,254}")  # never an option of `ssh`
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.$@\\-]{0,63}")
MOST_NODES = 200


class NodeRegistry:
    def __init__(self, controller: Controller, identity: str, stored: str | None) -> None:
        """`identity` is the id under which nodes keep this controller's agents."""
        self._controller = controller
        self._identity = identity
        self._connectors: dict[str, SshConnector] = {}
        self.entries = read_entries(stored)
        self.auth_socket = AuthSocket(self._try_refused)

    def begin(self) -> None:
        """Connect to all stored nodes."""
        for entry in self.entries.values():
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
        if not is_later:
            entry = msgspec.structs.replace(entry, joined=await self._try(entry))
        await self._store(lambda _: self._with_new(entry))
        self._connect(entry)
        return entry

    async def change(self, name: str, changed: NodeEntry) -> NodeEntry:
        """Connects again if the way to it changed."""
        before = self.of(name)
        _check_words(changed)
        await self._store(lambda _: {**self.entries, name: changed})
        if (before.target, before.environment) != (changed.target, changed.environment):
            await self._disconnect(name)
            self._connect(changed)
        return changed

    async def remove(self, name: str, events: Callable[[State], list[Event]]) -> None:
        """`events` for the core, which may refuse."""
        self.of(name)

        def without(state: State) -> Decision[None]:
            decided = events(state)
            left = {other: entry for other, entry in self.entries.items() if other != name}
            return self._decision(left, decided)

        await self._controller.engine.decide(without)
        await self._disconnect(name)

    # The stored list

    def _with_new(self, entry: NodeEntry) -> dict[str, NodeEntry]:
        self._check(entry)  # another request may have added it meanwhile
        return {**self.entries, entry.name: entry}

    async def _store(self, changed: Callable[[State], dict[str, NodeEntry]]) -> None:
        await self._controller.engine.decide(lambda state: self._decision(changed(state), []))

    def _decision(self, entries: dict[str, NodeEntry], events: list[Event]) -> Decision[None]:
        def install() -> Callable[[], None]:
            before, self.entries = self.entries, entries

            def undo() -> None:
                self.entries = before

            return undo

        return Decision(answer=None, events=events, settings={SETTING: stored_text(entries)}, install=install)

    def _check(self, entry: NodeEntry) -> None:
        _check_words(entry)
        if self._controller.fleet.get(NodeName(entry.name)) is not None:
            raise conflict("node.exists", node=entry.name)
        if len(self.entries) >= MOST_NODES:
            raise invalid("node.too_many", most=MOST_NODES)

    # Links

    def _connector(self, entry: NodeEntry) -> SshConnector:
        return SshConnector(
            entry.name,
            entry.target,
            controller=self._identity,
            state_folder=self._controller.state_folder,
            environment=entry.environment,
            auth_socket=lambda: self.auth_socket.path,
        )

    async def _try(self, entry: NodeEntry) -> Joined:
        """Connect once. Raises Refused with what is wrong."""
        connector = self._connector(entry)
        try:
            (await connector.open()).close()
        except OSError as failure:
            raise refused_link(failure, entry.host) from None
        finally:
            connector.close()
        assert connector.joined is not None
        self._refuse_known_machine(entry, connector.joined)
        return connector.joined

    def _refuse_known_machine(self, entry: NodeEntry, joined: Joined) -> None:
        """Its GPUs would be booked twice."""
        fleet = self._controller.fleet
        known = {read_boot_id(): fleet.home.name}
        known |= {boot_id: one.name for one in fleet if (boot_id := fleet.boot_id(one.name)) is not None}
        if (other := known.get(joined.boot_id)) is not None:
            raise conflict("node.same_machine", node=entry.name, other=other)

    def _connect(self, entry: NodeEntry) -> None:
        connector = self._connectors[entry.name] = self._connector(entry)
        self._controller.add_node(NodeName(entry.name), connector)

    async def _disconnect(self, name: str) -> None:
        self._connectors.pop(name, None)
        await self._controller.fleet.remove(NodeName(name))

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
