"""Events, named in the past tense. Nothing else changes the state.

A report names (job, attempt); a report of any other attempt is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.model.gpu import BookedGpu, Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec
from tarmac.core.model.leftovers import Leftovers
from tarmac.core.model.names import Entry, Loss, Memory, Outcome, Outside
from tarmac.core.model.note import Note
from tarmac.core.model.plan import EndByProgress
from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import RunName

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSubmitted:
    """A negative number in `after` refers to a job of the same submit: -1 is the first."""

    specs: tuple[JobSpec, ...]
    is_array: bool = False  # the jobs form one array
    entry: Entry = "queued"
    by: str = ""  # the submitter, if the jobs enter held
    ended: tuple[tuple[JobId, Outcome], ...] = ()  # outcomes of jobs named in `after` that have left the state


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAsked:
    """`more`: jobs to stop in the same event, so that none of them starts on GPUs another one frees."""

    job: JobId
    by: str | None  # None: Tarmac itself
    grace_s: float | None = None  # None: the job's own grace period
    more: tuple[JobId, ...] = ()
    why: Note | None = None  # set when Tarmac stops it

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
    """Held jobs and drafts join the queue, each at its position."""

    jobs: tuple[JobId, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsPaused:
    """Running jobs are frozen and keep their GPUs."""

    jobs: tuple[JobId, ...]
    by: str
    is_counted: bool = False  # the pause counts against their time limits


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsResumed:
    jobs: tuple[JobId, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsRetried:
    """Jobs run again. The caller guarantees that `jobs`, from the store, have ended and can run again.

    `waiting`: jobs that wait between two attempts, and do not wait any longer.
    """

    by: str
    jobs: tuple[Job, ...] = ()
    waiting: tuple[JobId, ...] = ()
    ended: tuple[tuple[JobId, Outcome], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersResumed:
    """The jobs of these owners are no longer suspended."""

    owners: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMoved:
    """Moved to a position among its owner's waiting jobs of the same tier; positions count from 1."""

    job: JobId
    place: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEdited:
    """The options of a waiting job changed."""

    job: JobId
    spec: JobSpec
    by: str
    ended: tuple[tuple[JobId, Outcome], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartForced:
    """Start now, regardless of order and limits. The caller guarantees that the GPUs exist."""

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
    """Ends a pause, a drain or both."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDrained:
    """No new jobs are accepted; waiting and running jobs go on."""

    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStopped:
    """Paused, and running jobs return to the front of the queue."""

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
    is_paused: bool = False  # its processes are frozen


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
    timed_out: bool = False  # it reached its time limit and was stopped
    leftovers: Leftovers | None = None  # that were ended after the command
    outside: Outside | None = None  # it failed because of this
    is_log_disk_full: bool = False
    oom: Memory | None = None  # it failed because this memory ran out
    error_line: str | None = None  # the line of its output that says why it failed
    paused_s: float | None = None  # in all; None: the node cannot say
    peak_gpu_memory_bytes: int | None = None  # on one of its GPUs, as far as it was seen
    was_signalled: bool | None = None  # asked to stop while its command still ran; None: the node cannot say


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFailed:
    """No process of the job ever ran."""

    job: JobId
    attempt: int
    message: str
    at: float
    outside: Outside | None = None  # what was missing


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLost:
    """The shim died without an exit record. `is_alive`: processes of the job still run."""

    job: JobId
    attempt: int
    message: str
    is_alive: bool
    at: float
    started_at: float | None = None  # by the same clock; None: as reported before
    loss: Loss = "lost"
    leftovers: Leftovers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeGone:
    """The processes that were left after JobLost are gone."""

    job: JobId
    attempt: int
    at: float
    started_at: float | None = None
    leftovers: Leftovers | None = None


RunReport: TypeAlias = JobStarted | JobExited | LaunchFailed | JobLost | TreeGone


def is_final(report: RunReport) -> bool:
    """True if no process of the attempt is left."""
    match report:
        case JobExited() | LaunchFailed() | TreeGone():
            return True
        case JobLost(is_alive=is_alive):
            return not is_alive
        case JobStarted():
            return False
        case _:
            assert_never(report)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrigin:
    """The job and the booking of an attempt, from the node's own record of it."""

    run: RunName
    submitted_at: float  # identifies the job together with its id
    spec: JobSpec
    gpus: tuple[BookedGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeJoined:
    """A node connected, for the first time or again, and reports the attempts it runs."""

    node: NodeName
    cpu_job_slots: int
    runs: tuple[RunReport, ...]
    cpus: int = 0
    memory_total_bytes: int = 0
    origins: tuple[RunOrigin, ...] = ()  # of the attempts in `runs`; those of older agents have none
    guesses: tuple[RunOrigin, ...] = ()  # from processes, where the record is lost; their submit times are not known
    ended: frozenset[RunName] = frozenset()  # attempts in `runs` that no live job has and whose end is stored
    free_ids: frozenset[JobId] = frozenset()  # ids in `runs` that this database never gave to a job


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
    """A reading of GPUs and host. Sent for every reading, even when nothing changed."""

    node: NodeName
    uses: tuple[tuple[GpuUuid, GpuUse], ...]
    taken: tuple[tuple[JobId, GpuUuid, int], ...] = ()  # memory that jobs use on GPUs
    memory_available_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressSeen:
    """Running jobs print other progress than before. It shapes plans; no promise rests on it."""

    ends: tuple[EndByProgress, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """No other event occurred, but something timed may be due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusDrained:
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusResumed:
    node: NodeName
    gpus: tuple[GpuUuid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusForgotten:
    """No longer wait for GPUs that are gone. The caller guarantees that no job holds one."""

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
    """A process started outside Tarmac becomes a job; the GPUs it uses are booked for it."""

    spec: JobSpec
    node: NodeName
    pid: int
    gpus: tuple[GpuUuid, ...]
    start_time: int | None = None  # with the pid, it identifies the process
    uid: int | None = None  # of the process


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A report of an attempt and the node it came from."""

    node: NodeName
    report: RunReport


Event: TypeAlias = (
    JobsSubmitted
    | JobsHeld
    | JobsReleased
    | JobsPaused
    | JobsResumed
    | JobsRetried
    | JobMoved
    | JobEdited
    | StartForced
    | QueuePaused
    | QueueResumed
    | OwnersResumed
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
    | ProgressSeen
    | TimePassed
    | GpusDrained
    | GpusResumed
    | GpusForgotten
    | SlotsSet
    | RulesSet
)
