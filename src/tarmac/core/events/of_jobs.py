"""Requests of people about jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec
from tarmac.core.model.names import Entry, Outcome
from tarmac.core.model.note import Note
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSubmitted:
    """A negative number in `after` refers to a job of the same submit: -1 is the first."""

    specs: tuple[JobSpec, ...]
    is_group: bool = False  # the jobs form an array, a sweep or a batch
    indices: tuple[int | None, ...] = ()  # of an array, one for each job
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

    `waiting`: jobs that wait between two attempts, and are to start now.
    """

    by: str
    jobs: tuple[Job, ...] = ()
    waiting: tuple[JobId, ...] = ()
    ended: tuple[tuple[JobId, Outcome], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMoved:
    """Moved to a position among its owner's waiting jobs of the same tier; positions count from 1."""

    job: JobId
    place: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEdited:
    """The options of a waiting job changed. `more`: further jobs that were edited with it."""

    job: JobId
    spec: JobSpec
    by: str
    more: tuple[tuple[JobId, JobSpec], ...] = ()
    ended: tuple[tuple[JobId, Outcome], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsLabelled:
    """Names, tags or notes of jobs changed, in any state. `jobs`: copies with their new specs, also of ended jobs."""

    by: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartForced:
    """Start now, regardless of order and limits. The caller guarantees that the GPUs exist."""

    job: JobId
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessAdopted:
    """A process started outside Tarmac becomes a job; the GPUs it uses are booked for it."""

    spec: JobSpec
    node: NodeName
    pid: int
    gpus: tuple[GpuUuid, ...]
    start_time: int | None = None  # with the pid, it identifies the process
    uid: int | None = None  # of the process
