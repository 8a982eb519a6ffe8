"""The machines that jobs run on."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

NodeKind: TypeAlias = Literal["local", "ssh"]
NodeState: TypeAlias = Literal["reachable", "unreachable", "needs-login", "rebooted", "drained", "removed"]


class NodeView(Struct, kw_only=True):
    name: str
    kind: NodeKind  # how it is reached
    address: str | None  # where other nodes reach it; null: on this machine
    state: NodeState
    reason: str | None  # why it is in this state
    since: str  # when that began; of a node that never was connected, when the controller started
    connected: bool  # to its agent
    connected_at: str | None
    problem: str | None  # why it is not connected
    version: str | None  # of its agent
    boot_id: str | None
    agent_pid: int | None
    containment: str | None
    watch_only: bool  # its GPUs are shown, and no job starts there
    drained: bool
    drained_by: str | None  # null: not drained, or drained by Tarmac
    drain_reason: str | None
    gpus: int  # as its agent last reported
    running: int  # jobs that hold something there
    queued: int  # waiting jobs that may run there, as far as their owners and their files are concerned
    cpus: int | None
    memory_total_bytes: int | None  # of the host
    memory_available_bytes: int | None
    host: str | None  # as `ssh` takes it; null if it is not reached over SSH
    user: str | None
    port: int | None
    warnings: list[str]  # what may harm jobs there


class NodeList(Struct, kw_only=True):
    nodes: list[NodeView]  # the controller's own machine first


class NodeDrainRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=4096)] | None = None
