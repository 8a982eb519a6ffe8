"""A job as the API shows it."""

from __future__ import annotations

from msgspec import Struct

from tarmac.controller.progress.parser import Progress


class GpuRef(Struct, kw_only=True):
    """`index` is null if another GPU has its number now."""

    node: str
    index: int | None
    uuid: str


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
    tier: str
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
    group: int | None
    after: list[str]
    waits_for: list[int]
    gpu_memory_bytes: int | None
    gpu_share: float | None
    gpu_models: list[str]
    min_gpu_memory_bytes: int | None
    gpus_on: list[int | str]
    exclude_gpus: list[int | str]
    idle_below: int | None
    memory_bytes: int | None
    cpus: int | None
    utilization: float | None
    energy_j: float | None
    warnings: list[str]
    estimate_basis: str | None
    time_limit_s: float | None
    begin_at: str | None
    index: int | None
    max_running: int | None
    position: int | None
    held_by: str | None


class WholeJobView(JobView, kw_only=True):
    message: str | None
    why: list[str]
    pid: int | None
    umask: int
    grace_s: float
    shell: str | None
    stdout_path: str
    stderr_path: str
    stop_signal: int
