"""What happened, in the past tense: the only things that change the state.

A report about a run names (job, attempt); one of another attempt is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model.gpu import Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import JobSpec
from tarmac.core.model.names import Entry, Outcome
from tarmac.core.model.note import Note
from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSubmitted:
    """A negative number in `after` is another job of the same submit: -1 is its first."""

    specs: tuple[JobSpec, ...]
    is_array: bool = False  # they are one thing in many parts
    entry: Entry = "queued"
    by: str = ""  # who submits, where they enter held
    ended: tuple[tuple[JobId, Outcome], ...] = ()  # outcomes of jobs named in `after` that have left the state


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAsked:
    """`more`: jobs to stop in the same event, so that none of them starts in the place of another."""

    job: JobId
    by: str | None  # None: Tarmac itself
    grace_s: float | None = None  # None: what the job asked for itself
    more: tuple[JobId, ...] = ()
    why: Note | None = None  # where Tarmac stops it

    def one_by_one(self) -> Iterator[StopAsked]:
        yield self
        for job in self.more:
            yield StopAsked(job=job, by=self.by, grace_s=self.grace_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsHeld:
    jobs: tuple[JobId, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsReleased:
    """Held ones and drafts join the queue, each at its place."""

    jobs: tuple[JobId, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMoved:
    """Put at a place among its owner's waiting jobs of its tier; the first place is 1."""

    job: JobId
    place: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEdited:
    """A waiting job asks for something else from now on."""

    job: JobId
    spec: JobSpec
    by: str
    ended: tuple[tuple[JobId, Outcome], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartForced:
    """Now, whatever the order and the limits say. Whoever asks made sure that the GPUs are there."""

    job: JobId
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePaused:
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueResumed:
    """Whatever it was: paused, draining or both."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDrained:
    """Nothing new is accepted; what waits and runs is worked off."""

    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStopped:
    """Paused, and what runs goes back to the front of the queue."""

    by: str
    grace_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationMade:
    reservation: Reservation


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationEnded:
    reservation: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStarted:
    job: JobId
    attempt: int
    pid: int
    started_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobExited:
    """The command ended and its whole process tree is gone."""

    job: JobId
    attempt: int
    exit_code: int | None
    signal: int | None
    pid: int | None
    started_at: float
    ended_at: float
    timed_out: bool = False  # it was at its time limit, and told to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFailed:
    """Nothing of the job ever ran."""

    job: JobId
    attempt: int
    message: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLost:
    """Its shim is dead and left no exit record. `is_alive`: processes of the job are still there."""

    job: JobId
    attempt: int
    message: str
    is_alive: bool
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeGone:
    """After JobLost with processes left: now they are gone."""

    job: JobId
    attempt: int
    at: float


RunReport: TypeAlias = JobStarted | JobExited | LaunchFailed | JobLost | TreeGone


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeJoined:
    """A node (again) in reach, with what it really runs."""

    node: NodeName
    cpu_job_slots: int
    runs: tuple[RunReport, ...]
    cpus: int = 0
    memory_total_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLeft:
    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusSeen:
    """All GPUs of a node, in index order."""

    node: NodeName
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSampled:
    """What GPUs and host do right now, beside what is booked. Comes again when it was read again and is the same."""

    node: NodeName
    uses: tuple[tuple[GpuUuid, GpuUse], ...]
    taken: tuple[tuple[JobId, GpuUuid, int], ...] = ()  # memory of jobs on GPUs
    memory_available_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """Nothing else happened; what waits for time alone may be due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusDrained:
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusResumed:
    node: NodeName
    gpus: tuple[GpuUuid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusForgotten:
    """GPUs that are gone are not waited for any more. Whoever asks made sure that no job holds one."""

    node: NodeName
    gpus: tuple[GpuUuid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsSet:
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesSet:
    rules: Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessAdopted:
    """Somebody's own process is taken into the list; the GPUs it sits on are booked for it."""

    spec: JobSpec
    node: NodeName
    pid: int
    gpus: tuple[GpuUuid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A run report together with the node it came from."""

    node: NodeName
    report: RunReport


Event: TypeAlias = (
    JobsSubmitted
    | JobsHeld
    | JobsReleased
    | JobMoved
    | JobEdited
    | StartForced
    | QueuePaused
    | QueueResumed
    | QueueDrained
    | QueueStopped
    | ReservationMade
    | ReservationEnded
    | ProcessAdopted
    | StopAsked
    | Reported
    | NodeJoined
    | NodeLeft
    | GpusSeen
    | NodeSampled
    | TimePassed
    | GpusDrained
    | GpusResumed
    | GpusForgotten
    | SlotsSet
    | RulesSet
)
