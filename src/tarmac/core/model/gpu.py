"""A GPU: its identity, how it is booked, and what foreign processes do on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tarmac.core.model.ids import GpuUuid


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGpu:
    """A GPU that a job is pinned to or kept off. It is the UUID that counts, whatever a driver numbers it later."""

    uuid: GpuUuid
    index: int = field(compare=False)  # as it was at submit, for words about a GPU that is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as it is booked. Readings (memory in use, load) are not part of it."""

    uuid: GpuUuid
    index: int
    model: str = ""
    memory_total_bytes: int = 0
    links: tuple[tuple[GpuUuid, int], ...] = ()  # how near other GPUs are, nearer is higher
    parent: GpuUuid | None = None  # of a MIG instance: the GPU that it is a part of


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignProcess:
    """A process on a GPU that belongs to no job there: nobody's, or of a job that did not book this GPU."""

    pid: int
    user: str | None = None
    command: str | None = None
    started_at: float | None = None
    job: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUse:
    """What a GPU does that Tarmac did not book, as last read."""

    outside_bytes: int = 0  # memory of processes that belong to no job there
    foreign_processes: tuple[ForeignProcess, ...] = ()
    load: float | None = None  # fraction; of everything on the GPU
    health: str | None = None  # why the GPU is sick; None: it is not
    is_gone: bool = False  # the driver does not tell of it any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Since when the GPUs of a job do nothing, or too much, and whether that has been said."""

    idle_since: float | None = None
    is_warned: bool = False
    over_since: float | None = None  # takes more than it booked
    is_over_booking: bool = False  # and that for long enough to be marked
    over_told_at: float | None = None  # its owner was warned of that


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Nothing new is placed on the GPU. `by` is a person, or None where Tarmac saw it sick."""

    reason: str
    by: str | None
    since: float
    healthy_since: float | None = None  # a sick GPU that answers well again


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedGpu:
    uuid: GpuUuid
    index: int
    memory_bytes: int = 0  # 0: the whole GPU
    part: float = 1.0  # of the GPU, for limits and shares
    is_forced: bool = False  # a person put it there beside whatever else holds the GPU
    parent: GpuUuid | None = None  # kept here too: an instance may vanish while it is booked
