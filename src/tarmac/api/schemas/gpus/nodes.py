"""The machines that jobs run on."""

from __future__ import annotations

from msgspec import Struct


class NodeView(Struct, kw_only=True):
    name: str
    connected: bool  # to its agent
    since: str  # when that began; of a node that never was connected, when the controller started
    problem: str | None  # why it is not connected
    agent_pid: int | None
    gpus: int  # as its agent last reported
    cpus: int | None
    memory_total_bytes: int | None  # of the host
    memory_available_bytes: int | None
