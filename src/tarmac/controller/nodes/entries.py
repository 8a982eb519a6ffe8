"""The nodes that were added by `tarmac node add`, as they are stored."""

from __future__ import annotations

import msgspec

from tarmac.nodes.ssh.joined import Joined
from tarmac.nodes.ssh.target import SshTarget

SETTING = "nodes"  # stored with the settings, but not set by `tarmac set`


class NodeEntry(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    host: str  # as `ssh` takes it
    user: str | None = None  # None: as the user's ssh config says
    port: int | None = None
    address: str | None = None  # where other nodes reach it; None: as `ssh` reaches it
    resolved: str | None = None  # the host name that the ssh config has for the host
    watch_only: bool = False  # its GPUs are shown, but no job starts there
    environment: dict[str, str] = {}  # of its agent
    added_at: float = 0.0
    added_by: str = ""
    joined: Joined | None = None  # what it said last, for while it is away

    @property
    def target(self) -> SshTarget:
        return SshTarget(host=self.host, user=self.user, port=self.port)


def read_entries(stored: str | None) -> dict[str, NodeEntry]:
    """By name, in the order in which they were added."""
    return {} if stored is None else {one.name: one for one in msgspec.json.decode(stored, type=list[NodeEntry])}


def stored_text(entries: dict[str, NodeEntry]) -> str | None:
    return msgspec.json.encode(list(entries.values())).decode() if entries else None
