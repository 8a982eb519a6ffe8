"""What the scheduler knows: jobs, what each state of a job carries, nodes and their GPUs.

A status carries only what is valid in it; nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NewType, TypeAlias

JobId = NewType("JobId", int)
NodeName = NewType("NodeName", str)
GpuUuid = NewType("GpuUuid", str)

DEFAULT_PRIORITY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a job asks of a node. Jobs of one owner with equal requests form a class."""

    gpus: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What the owner asked for, frozen at submit."""

    owner: str
    command: tuple[str, ...] | None  # argv, or None when `shell` is given
    shell: str | None
    cwd: str
    umask: int
    environment: str  # hash of the environment, which is stored once
    request: Request
    name: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = DEFAULT_PRIORITY  # smaller first
    stdout: str | None = None  # None: a file in the state folder
    stderr: str | None = None  # None: merged into stdout
    append: bool = False
    grace_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One card as it is booked. Readings (memory in use, load) are not part of it."""

    uuid: GpuUuid
    index: int
    model: str = ""
    memory_total_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedGpu:
    uuid: GpuUuid
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The node and cards an attempt has from its decision until its process tree is gone."""

    node: NodeName
    gpus: tuple[BookedGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """Waits for GPUs or its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Decided and booked; the node has not reported it running yet."""

    booking: Booking
    decided_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    booking: Booking
    pid: int
    started_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Asked to stop; keeps its booking until the whole tree is gone."""

    booking: Booking
    pid: int | None
    started_at: float | None  # None: asked before the node reported a start
    asked_at: float
    grace_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Nobody can say how it went. It is never started again by itself."""

    booking: Booking
    pid: int | None
    started_at: float | None
    ended_at: float | None  # None while processes of it are left, which keep the booking
    message: str
    stop_grace_s: float | None = None  # its owner wants what is left of it to end


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    booking: Booking
    pid: int | None
    started_at: float
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """`reason` is one of the words of the glossary: exit, signal, launch."""

    booking: Booking
    pid: int | None
    started_at: float | None
    ended_at: float
    reason: str
    exit_code: int | None = None
    signal: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Ended by a person, before or while it ran."""

    booking: Booking | None
    pid: int | None
    started_at: float | None
    ended_at: float
    exit_code: int | None = None
    signal: int | None = None


Status: TypeAlias = Queued | Starting | Running | Stopping | Unknown | Succeeded | Failed | Cancelled
Booked: TypeAlias = Starting | Running | Stopping | Unknown

STATUS_TYPES: dict[str, type[Status]] = {
    kind.__name__.lower(): kind for kind in (Queued, Starting, Running, Stopping, Unknown, Succeeded, Failed, Cancelled)
}


def state_name(status: Status) -> str:
    return type(status).__name__.lower()


def is_ended(status: Status) -> bool:
    match status:
        case Succeeded() | Failed() | Cancelled():
            return True
        case Unknown(ended_at=ended_at):
            return ended_at is not None
        case _:
            return False


def holds_booking(status: Status) -> Booking | None:
    """The booking that counts against the node right now."""
    match status:
        case Starting() | Running() | Stopping():
            return status.booking
        case Unknown(ended_at=None):
            return status.booking
        case _:
            return None


@dataclass(slots=True, kw_only=True)
class Job:
    id: JobId
    spec: JobSpec
    submitted_at: float
    position: int  # place in the queue among equal priorities; ids at first, so submit order
    attempt: int = 0  # how often it was decided to start; 0 while it never was
    status: Status = field(default_factory=Queued)

    @property
    def rank(self) -> tuple[int, int]:
        return (self.spec.priority, self.position)


@dataclass(slots=True, kw_only=True)
class Node:
    """One machine. `booked` may name cards that are not in `gpus`: one that vanished in mid-job stays booked."""

    name: NodeName
    cpu_job_slots: int  # how many jobs without GPUs may run at once
    gpus: dict[GpuUuid, Gpu] = field(default_factory=dict)  # in index order
    booked: dict[GpuUuid, JobId] = field(default_factory=dict)
    cpu_jobs: set[JobId] = field(default_factory=set)
    is_connected: bool = False
    has_told_gpus: bool = False  # until then, that `gpus` is empty says nothing

    def free_gpus(self) -> list[Gpu]:
        return [gpu for uuid, gpu in self.gpus.items() if uuid not in self.booked]
