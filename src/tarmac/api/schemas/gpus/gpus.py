"""GPUs and the processes on them."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tarmac.api.schemas.bounds import Pid
from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.schemas.notice import NoticeView

LONGEST_SINCE_S = 10 * 366 * 86400  # samples are not stored for that long


class GpuProcess(Struct, kw_only=True):
    pid: int
    user: str | None
    command: str | None
    memory_bytes: int | None
    started_at: str | None
    job: int | None
    ignored: bool
    holds_gpu: bool  # it keeps jobs off the GPU and is named in `held`


class GpuReservation(Struct, kw_only=True):
    """The reservation that applies to a GPU now, or the next one."""

    id: int
    owner: str
    begins_at: str
    ends_at: str
    active: bool


class GpuView(Struct, kw_only=True):
    """`index` is null if the GPU is gone and another one has its number now."""

    node: str
    index: int | None
    uuid: str
    model: str
    memory_total_bytes: int
    memory_used_bytes: int | None
    utilization: int | None
    temperature: int | None
    jobs: list[int]
    processes: list[GpuProcess]
    drained: bool
    drained_by: str | None  # null if Tarmac drained it as unhealthy
    reason: str | None
    power_w: float | None
    slots: int
    booked_bytes: int
    make: str
    parent: str | None
    health: str | None
    gone_since: str | None
    held: str | None
    reserved: GpuReservation | None
    warnings: list[str]
    stale_s: float | None  # how old the readings are, if the agent of its node does not answer


class GpuList(Struct, kw_only=True):
    gpus: list[GpuView]
    nodes: list[NodeView]  # also those that are not connected
    error: str | None
    notice: NoticeView | None  # of the admins to all users


class SamplesQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    since_s: Annotated[float, Meta(ge=0, le=LONGEST_SINCE_S)] = 86400.0
    fine: bool = False


class GpuSample(Struct, kw_only=True):
    """One GPU at one reading, or its average over one minute. Idle minutes are left out."""

    at: str
    memory_used_bytes: int | None
    utilization: float | None
    power_w: float | None


class GpuSamples(Struct, kw_only=True):
    samples: list[GpuSample]


class GpuSelection(Struct, kw_only=True, forbid_unknown_fields=True):
    """GPUs by index or UUID."""

    gpus: Annotated[list[str], Meta(min_length=1)]


class DrainRequest(GpuSelection, kw_only=True, forbid_unknown_fields=True):
    reason: str | None = None


class SlotsRequest(GpuSelection, kw_only=True, forbid_unknown_fields=True):
    slots: Annotated[int, Meta(ge=1, le=64)]


class GpusAnswer(Struct, kw_only=True):
    gpus: list[str]


class IgnoreRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """One process by its pid, or every process of a program by the program's name."""

    pid: Pid | None = None
    command: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    forget: bool = False  # undo what a user added
    off: bool = False  # count a program that is ignored by default
    node: str | None = None  # of the pid; needed if several nodes could be meant


IgnoredOrigin: TypeAlias = Literal["default", "config", "user"]


class Ignored(Struct, kw_only=True):
    """A program, or a process by its pid. `off`: a default that was switched off."""

    program: str | None = None
    pid: int | None = None
    node: str | None = None
    origin: IgnoredOrigin
    off: bool = False


class IgnoredList(Struct, kw_only=True):
    ignored: list[Ignored]


class IgnoreAnswer(Struct, kw_only=True):
    ignored: list[str]
