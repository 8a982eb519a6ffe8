"""The scheduler itself."""

from __future__ import annotations

from msgspec import Struct

from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.schemas.notify import NotificationsView
from tarmac.api.schemas.queue import SuspensionView


class StatusView(Struct, kw_only=True):
    controller_pid: int
    agent_pid: int | None
    agent_answers: bool
    agent_silent_s: float | None  # how long ago the agent was heard of, if it does not answer
    version: str
    api: int
    policy: str
    order: str
    paused: bool
    paused_reason: str | None
    draining: bool
    suspended: list[SuspensionView]  # users whose jobs all fail
    running: int
    queued: int
    containment: str | None
    containment_reason: str | None
    node: str | None
    home: str
    uptime_s: float
    database_bytes: int
    degraded: str | None  # why nothing can be written
    degraded_since: str | None
    notifications: NotificationsView | None  # null: none waits, and none failed
    nodes: list[NodeView]  # every configured one, the controller's own machine first


class StopRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    agent: bool = True


class StopAnswer(Struct, kw_only=True):
    """`stopping`: the number of jobs that are being stopped. The agent stays until they have ended."""

    controller_pid: int
    stopping: int
