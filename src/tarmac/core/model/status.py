"""The states of a job, one class each. A status carries only the data that is valid in that state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeGuard, assert_never

from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.leftovers import Leftovers
from tarmac.core.model.names import Failure, Loss, StateName
from tarmac.core.model.note import Note, note
from tarmac.core.model.part import PartsProgress, Place
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class RunName:
    """The name that a node has for an attempt: `7.2` is the second attempt of job 7."""

    job: JobId
    attempt: int


class MissingPath(NamedTuple):
    """A file or directory that the job needs and that is not there on a node."""

    node: NodeName
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The node and GPUs of an attempt, from the decision to start it until its process tree is gone.

    An attempt on several nodes has a part on each. `node` and `gpus` are those of the first part, and all are booked
    until every part is over.
    """

    node: NodeName
    gpus: tuple[BookedGpu, ...]
    run: RunName | None = None  # the node's name for the attempt, if it was taken in under another one
    others: tuple[Place, ...] = ()  # where the further parts are
    progress: PartsProgress | None = None  # of an attempt on several nodes; None: the first part has not started

    @property
    def places(self) -> tuple[Place, ...]:
        return (Place(node=self.node, gpus=self.gpus), *self.others)

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        """The node of each part."""
        return (self.node, *(place.node for place in self.others)) if self.others else (self.node,)

    @property
    def held(self) -> tuple[Place, ...]:
        """The places where something is booked: not on nodes that were forgotten."""
        if self.progress is None or not self.progress.forgotten:
            return self.places
        return tuple(place for part, place in enumerate(self.places) if part not in self.progress.forgotten)

    @property
    def held_nodes(self) -> tuple[NodeName, ...]:
        return tuple(place.node for place in self.held) if self.others else (self.node,)

    @property
    def blamed_node(self) -> NodeName:
        """The node of the part that decided how the attempt ended."""
        cause = None if self.progress is None else self.progress.cause
        return self.node if cause is None else self.nodes[cause]

    @property
    def all_gpus(self) -> tuple[BookedGpu, ...]:
        """Those of all parts."""
        return tuple(gpu for place in self.places for gpu in place.gpus) if self.others else self.gpus

    @property
    def open_nodes(self) -> tuple[NodeName, ...]:
        """The nodes that may have processes: no part that is over or was not sent yet is there."""
        if not self.others:
            return (self.node,)
        progress = self.progress or PartsProgress()
        sent = self.nodes if progress.are_others_sent else self.nodes[:1]
        return tuple(name for part, name in enumerate(sent) if progress.end_of(part) is None)

    @property
    def started_nodes(self) -> tuple[NodeName, ...]:
        """Those where processes are known to run."""
        if not self.others:
            return (self.node,)
        started = {start.part for start in self.progress.starts} if self.progress is not None else ()
        return tuple(name for name in self.open_nodes if self.nodes.index(name) in started)

    def gpus_by_node(self) -> Iterator[tuple[NodeName, BookedGpu]]:
        """Every GPU with its node."""
        return ((place.node, gpu) for place in self.places for gpu in place.gpus)

    def gpus_on(self, node: NodeName) -> tuple[BookedGpu, ...]:
        if node == self.node:
            return self.gpus
        return next((place.gpus for place in self.others if place.node == node), ())

    def with_others_sent(self) -> Booking:
        """As if its further parts had been sent, which may be true: each node will tell whether it has one."""
        if not self.others:
            return self
        return replace(self, progress=replace(self.progress or PartsProgress(), are_others_sent=True))

    def holds_what(self, other: Booking | None) -> bool:
        """Does the other booking hold the same nodes and GPUs? The progress of parts makes no difference."""
        if self == other:
            return True
        if other is None or not self.others:
            return False
        return (self.node, self.gpus, self.run, self.others) == (other.node, other.gpus, other.run, other.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Why a job returns to the queue after an attempt."""

    why: Literal["preempted", "queue_stopped", "time_limit", "failed", "retried", "missing"]
    for_job: JobId | None = None  # the job it was preempted for
    by: str | None = None  # who stopped the queue, or retried the job
    reason: Failure | Loss | None = None  # how the attempt failed
    detail: int | None = None  # its exit code or signal, where that is the reason
    missing: MissingPath | None = None  # what its node lacks, so that it runs on another

    @property
    def note(self) -> Note:
        match self.why:
            case "preempted":
                return note("requeue.preempted", for_job=self.for_job)
            case "queue_stopped":
                return note("requeue.queue_stopped", by=self.by)
            case "time_limit":
                return note("requeue.time_limit")
            case "failed":
                return note("requeue.failed", reason=self.reason, detail=self.detail)
            case "retried":
                return note("requeue.retried", by=self.by)
            case "missing":
                node, path = (None, None) if self.missing is None else self.missing
                return note("requeue.missing", node=node, path=path)
            case _:
                assert_never(self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """Waits for GPUs, its turn, its dependencies or its begin time."""

    since: float | None = None  # None: since it was submitted
    requeued: Requeue | None = None  # why it was requeued
    retry_at: float | None = None  # it waits between two attempts until then
    retry_wait_s: float = 0.0  # how long that is

    def with_wait_from(self, now: float) -> Queued:
        """The wait between two attempts is a length of time: it does not grow if the clock is set back."""
        if self.retry_at is None or self.retry_at <= now + self.retry_wait_s:
            return self
        return replace(self, retry_at=now + self.retry_wait_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Waits for a person to release it."""

    by: str
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Stored, but not scheduled until it is released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Decided and booked; the node has not reported it running yet."""

    booking: Booking
    decided_at: float
    adopted_pid: int | None = None  # the process already runs; the node only watches it
    adopted_start_time: int | None = None  # by then another process may have the pid; the node refuses it
    adopted_uid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    booking: Booking
    pid: int
    started_at: float
    paused_s: float = 0.0  # in all pauses that are over
    counted_s: float = 0.0  # the part of it that counts against the time limit

    def paused_until(self, _now: float, /) -> float:
        """How long it has been paused in all."""
        return self.paused_s

    @property
    def extension_s(self) -> float:
        """By how much the pauses that are over have put off its time limit."""
        return self.paused_s - self.counted_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused(Running):
    """Runs, but its processes are frozen. It keeps its booking."""

    paused_at: float
    by: str
    is_counted: bool = False  # the pause counts against the time limit

    def paused_until(self, now: float, /) -> float:
        return self.paused_s + max(0.0, now - self.paused_at)

    def resumed(self, now: float) -> Running:
        this_s = max(0.0, now - self.paused_at)
        return Running(
            booking=self.booking,
            pid=self.pid,
            started_at=self.started_at,
            paused_s=self.paused_s + this_s,
            counted_s=self.counted_s + (this_s if self.is_counted else 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Asked to stop; keeps its booking until the whole tree is gone."""

    booking: Booking
    pid: int | None
    started_at: float | None  # None: stopped before the node reported a start
    asked_at: float
    grace_s: float
    requeue: Requeue | None = None  # None: the job ends
    paused_s: float = 0.0

    @property
    def for_job(self) -> JobId | None:
        """The job this one was preempted for."""
        return None if self.requeue is None else self.requeue.for_job


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The outcome cannot be determined. The job is tried again only if its owner asked for that."""

    booking: Booking
    pid: int | None
    started_at: float | None
    ended_at: float | None  # None while processes are left; until then the booking remains
    message: Note | str  # reported by the node, or a note by the core
    reason: Loss = "lost"
    stop_grace_s: float | None = None  # set once its owner asked to stop the remaining processes
    leftovers: Leftovers | None = None
    paused_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    booking: Booking
    pid: int | None
    started_at: float
    ended_at: float
    leftovers: Leftovers | None = None
    paused_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    booking: Booking | None  # None: it never had one
    pid: int | None
    started_at: float | None
    ended_at: float
    reason: Failure
    exit_code: int | None = None
    signal: int | None = None
    message: Note | str | None = None  # reported by the node, or a note by the core
    error_line: str | None = None  # the line of its output that says why it failed
    leftovers: Leftovers | None = None
    paused_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Ended by a person, before or while it ran."""

    booking: Booking | None
    pid: int | None
    started_at: float | None
    ended_at: float
    exit_code: int | None = None
    signal: int | None = None
    leftovers: Leftovers | None = None
    paused_s: float = 0.0


Status: TypeAlias = Queued | Held | Draft | Starting | Running | Stopping | Unknown | Succeeded | Failed | Cancelled


Booked: TypeAlias = Starting | Running | Stopping | Unknown


STATUS_TYPES: dict[StateName, type[Status]] = {
    "draft": Draft,
    "held": Held,
    "queued": Queued,
    "starting": Starting,
    "running": Running,
    "paused": Paused,
    "stopping": Stopping,
    "unknown": Unknown,
    "succeeded": Succeeded,
    "failed": Failed,
    "cancelled": Cancelled,
}
_NAMES: dict[type[Status], StateName] = {kind: name for name, kind in STATUS_TYPES.items()}


def state_name(status: Status) -> StateName:
    return _NAMES[type(status)]


def is_working(status: Status) -> TypeGuard[Running]:
    """Runs and is not paused."""
    return isinstance(status, Running) and not isinstance(status, Paused)


def is_ended(status: Status) -> bool:
    match status:
        case Succeeded() | Failed() | Cancelled():
            return True
        case Unknown(ended_at=ended_at):
            return ended_at is not None
        case _:
            return False


def holds_booking(status: Status) -> Booking | None:
    """The booking that occupies the node now, if any."""
    match status:
        case Starting() | Running() | Stopping():
            return status.booking
        case Unknown(ended_at=None):
            return status.booking
        case _:
            return None


def paused_s_of(status: Status, now: float) -> float:
    """How long an attempt has been paused in all."""
    match status:
        case Queued() | Held() | Draft() | Starting():
            return 0.0
        case Running():
            return status.paused_until(now)
        case _:
            return status.paused_s
