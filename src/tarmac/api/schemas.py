"""The shapes of requests and answers, for OpenAPI and for checking what comes in."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

Grace = Annotated[float, Meta(ge=0, le=86400)]


class Selection(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which jobs are meant. Without any condition nothing is: say `all`."""

    ids: list[str] = []
    name: str | None = None
    tag: str | None = None
    state: str | None = None
    owner: str | None = None


class KillRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    grace_s: Grace | None = None


class StopRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    agent: bool = True


class SubmitAnswer(Struct, kw_only=True):
    ids: list[int]


class KillAnswer(Struct, kw_only=True):
    asked: list[int]
    already_ended: list[int]


class RemoveAnswer(Struct, kw_only=True):
    removed: list[int]


class GpuRef(Struct, kw_only=True):
    node: str
    index: int
    uuid: str


class Progress(Struct, kw_only=True):
    fraction: float
    eta_s: float | None


class JobView(Struct, kw_only=True):
    id: int
    name: str | None
    owner: str
    project: str | None
    tags: list[str]
    state: str
    reason: str | None
    exit_code: int | None
    signal: int | None
    attempt: int
    priority: int
    tier: str | None
    gpus_asked: int
    gpus: list[GpuRef]
    node: str | None
    command: list[str]
    cwd: str
    submitted_at: str
    started_at: str | None
    ended_at: str | None
    estimated_start: str | None
    progress: Progress | None
    peak_gpu_memory_bytes: int | None
    log_path: str
    group: str | None
    after: list[int]


class WholeJobView(JobView, kw_only=True):
    message: str | None
    why: list[str]
    pid: int | None
    umask: int
    grace_s: float
    shell: str | None
    stdout_path: str
    stderr_path: str


class JobPage(Struct, kw_only=True):
    """`next` is what to give as `after` for the following page; null on the last one."""

    jobs: list[JobView]
    next: int | None


class WaitAnswer(Struct, kw_only=True):
    jobs: list[JobView]
    pending: list[int]


class StoryEvent(Struct, kw_only=True):
    id: int
    at: str
    attempt: int
    kind: str
    detail: dict[str, Any]


class Story(Struct, kw_only=True):
    events: list[StoryEvent]


class GpuProcess(Struct, kw_only=True):
    pid: int
    user: str | None
    command: str | None
    memory_bytes: int | None


class GpuView(Struct, kw_only=True):
    node: str
    index: int
    uuid: str
    model: str
    memory_total_bytes: int
    memory_used_bytes: int | None
    utilization: int | None
    temperature: int | None
    jobs: list[int]
    processes: list[GpuProcess]
    drained: bool
    reason: str | None


class GpuList(Struct, kw_only=True):
    gpus: list[GpuView]
    error: str | None


class StatusView(Struct, kw_only=True):
    controller_pid: int
    agent_pid: int | None
    version: str
    api: int
    policy: str
    paused: bool
    running: int
    queued: int
    containment: str | None
    containment_reason: str | None
    node: str | None
    home: str
    uptime_s: float
    database_bytes: int
    degraded: str | None
