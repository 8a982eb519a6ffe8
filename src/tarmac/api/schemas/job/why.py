"""Why a job does not run yet."""

from __future__ import annotations

from typing import Any, Required, TypedDict

from msgspec import Struct


class Requested(TypedDict, total=False):
    """What the job requested, under the names of a submit. Options at their default are left out."""

    gpus: Required[int]
    node_count: int
    gpu_memory_bytes: int
    gpu_share: float
    gpu_models: list[str]
    min_gpu_memory_bytes: int
    gpus_on: list[int | str]
    exclude_gpus: list[int | str]
    idle_below: int
    only_nodes: list[str]
    exclude_nodes: list[str]
    prefer_nodes: list[str]
    memory_bytes: int
    cpus: int
    priority: Required[int]
    time_limit_s: float
    begin_at: str
    tier: Required[str]
    nice: int


class WhyReason(TypedDict, total=False):
    """`kind` decides which of the other fields are present."""

    kind: Required[str]
    text: Required[str]
    node: str
    path: str  # that is missing there
    asked: int | float
    free: int
    total: int
    slots: int
    available_bytes: int
    kept_bytes: int
    what: str
    lack: dict[str, Any]  # the constraint that no node satisfies; its fields depend on the constraint
    nodes: int  # how many there are
    only: tuple[str, ...]  # of these, the nodes that the job may run on, if its owner chose some
    by: str | None
    since: float | None
    job: int
    on: str
    at: float | None
    attempt: int  # the next one
    reason: str | None
    limit: str
    name: str | None
    most: float
    used: float
    group: int
    gpus: int
    is_overdue: bool
    reservation: int
    owner: str
    begins_at: float
    ends_at: float


class WhyFree(Struct, kw_only=True):
    """GPUs that would do, GPUs that nothing uses, all GPUs, and the memory of the hosts."""

    gpus: int
    idle: int
    total: int
    memory_available_bytes: int | None


class WhyGpu(Struct, kw_only=True):
    node: str
    index: int
    uuid: str
    text: str
    jobs: list[int]
    until: str | None


class WhyView(Struct, kw_only=True):
    id: int
    state: str
    position: int | None
    ahead: int | None
    asked: Requested
    free: WhyFree
    reasons: list[WhyReason]
    gpus: list[WhyGpu]
    estimated_start: str | None
    estimate_basis: str | None
    lines: list[str]
