"""What an event stream says about changes that are not commits."""

from __future__ import annotations

from msgspec import Struct

from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.controller.progress.parser import Progress


class JobProgress(Struct, kw_only=True):
    """What changes about a job while it runs; all but `host_memory_bytes` are fields of a job."""

    id: int
    attempt: int
    progress: Progress | None
    elapsed_s: float | None
    pause_s: float
    utilization: float | None
    peak_gpu_memory_bytes: int | None
    host_memory_bytes: int | None  # as last read
    warnings: list[str]
    stale_s: float | None
    stale_reason: str | None


class ProgressEvent(Struct, kw_only=True):
    jobs: list[JobProgress]


class JobEstimate(Struct, kw_only=True):
    id: int
    estimated_start: str | None
    estimate_basis: str | None


class EstimatesEvent(Struct, kw_only=True):
    jobs: list[JobEstimate]


class LineEvent(Struct, kw_only=True):
    """The waiting jobs of one owner and tier, in the order in which they go."""

    owner: str
    tier: str
    ids: str  # such as 3-7,9


class RemovedEvent(Struct, kw_only=True):
    ids: str  # such as 3-7,9


class NodesEvent(Struct, kw_only=True):
    nodes: list[NodeView]
    error: str | None  # as in GET /gpus
