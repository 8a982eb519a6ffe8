"""The states of a job, one class each. A status carries only the data that is valid in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.names import Failure, StateName
from tarmac.core.model.note import Note, note


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The node and GPUs an attempt has from its decision until its process tree is gone."""

    node: NodeName
    gpus: tuple[BookedGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Why an attempt is stopped although its job goes on: it returns to the queue."""

    why: Literal["preempted", "queue_stopped"]
    for_job: JobId | None = None  # the job it was preempted for
    by: str | None = None  # who stopped the queue

    @property
    def note(self) -> Note:
        if self.why == "preempted":
            return note("requeue.preempted", for_job=self.for_job)
        return note("requeue.queue_stopped", by=self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """Waits for GPUs, its turn, its dependencies or its time."""

    since: float | None = None  # None: since it was submitted
    requeued: Requeue | None = None  # why it is here again


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Waits for a person to release it."""

    by: str
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Kept, not to be scheduled yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Decided and booked; the node has not reported it running yet."""

    booking: Booking
    decided_at: float
    adopted_pid: int | None = None  # it runs already; the node only has to watch it


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
    requeue: Requeue | None = None  # None: the job is to end

    @property
    def for_job(self) -> JobId | None:
        """The job that this one was preempted for."""
        return None if self.requeue is None else self.requeue.for_job


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Nobody can say how it went. It is never started again by itself."""

    booking: Booking
    pid: int | None
    started_at: float | None
    ended_at: float | None  # None while processes of it are left, which keep the booking
    message: Note | str  # as reported by the node, or what the core concluded
    stop_grace_s: float | None = None  # its owner wants what is left of it to end


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    booking: Booking
    pid: int | None
    started_at: float
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    booking: Booking | None  # None: it never had one
    pid: int | None
    started_at: float | None
    ended_at: float
    reason: Failure
    exit_code: int | None = None
    signal: int | None = None
    message: Note | str | None = None  # as reported by the node, or what the core concluded


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Ended by a person, before or while it ran."""

    booking: Booking | None
    pid: int | None
    started_at: float | None
    ended_at: float
    exit_code: int | None = None
    signal: int | None = None


Status: TypeAlias = Queued | Held | Draft | Starting | Running | Stopping | Unknown | Succeeded | Failed | Cancelled


Booked: TypeAlias = Starting | Running | Stopping | Unknown


STATUS_TYPES: dict[StateName, type[Status]] = {
    "draft": Draft,
    "held": Held,
    "queued": Queued,
    "starting": Starting,
    "running": Running,
    "stopping": Stopping,
    "unknown": Unknown,
    "succeeded": Succeeded,
    "failed": Failed,
    "cancelled": Cancelled,
}
_NAMES: dict[type[Status], StateName] = {kind: name for name, kind in STATUS_TYPES.items()}


def state_name(status: Status) -> StateName:
    return _NAMES[type(status)]


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
