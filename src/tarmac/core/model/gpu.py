"""A GPU: its identity, how it is booked, and what foreign processes do on it."""

from __future__ import annotations

from dataclasses import field

from tarmac.core.model.ids import GpuUuid
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGpu:
    """A GPU that a job is pinned to or must avoid. The UUID identifies it, even if the driver renumbers it later."""

    uuid: GpuUuid
    index: int = field(compare=False)  # at submit; used in messages about a GPU that is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as it is booked. Readings (memory in use, load) are not part of it."""

    uuid: GpuUuid
    index: int
    model: str = ""
    memory_total_bytes: int = 0
    links: tuple[tuple[GpuUuid, int], ...] = ()  # closeness to other GPUs; higher is closer
    parent: GpuUuid | None = None  # of a MIG instance: the GPU it belongs to


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignProcess:
    """A process on a GPU that does not belong to any job that booked this GPU."""

    pid: int
    user: str | None = None
    command: str | None = None
    started_at: float | None = None
    job: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUse:
    """The last reading of a GPU: use that Tarmac did not book, load and health."""

    outside_bytes: int = 0  # memory of foreign processes
    foreign_processes: tuple[ForeignProcess, ...] = ()
    load: float | None = None  # as a fraction, of all processes on the GPU
    health: str | None = None  # why the GPU is unhealthy; None: it is healthy
    is_gone: bool = False  # the driver no longer lists it


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Since when a job is idle or uses more than it booked, and whether its owner was warned."""

    idle_since: float | None = None
    is_warned: bool = False
    over_since: float | None = None  # uses more than it booked
    is_over_booking: bool = False  # long enough to be marked
    overuse_warned_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """No new job is placed on the GPU. `by` is a person, or None if Tarmac drained it as unhealthy."""

    reason: str | None  # None if the person gave none
    by: str | None
    since: float
    healthy_since: float | None = None  # an unhealthy GPU that reads healthy again


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedGpu:
    uuid: GpuUuid
    index: int
    memory_bytes: int = 0  # 0: the whole GPU
    part: float = 1.0  # fraction of the GPU, for limits and shares
    is_forced: bool = False  # a person forced the start, even if other jobs hold the GPU
    parent: GpuUuid | None = None  # copied, because a MIG instance may vanish while it is booked
