"""What happened, in the past tense: the only things that change the state.

A report about a run names (job, attempt); one of another attempt is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tarmac.core.model import Gpu, GpuUse, GpuUuid, JobId, JobSpec, NodeName, Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSubmitted:
    specs: tuple[JobSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAsked:
    job: JobId
    by: str
    grace_s: float | None = None  # None: what the job asked for itself


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
    """All cards of a node, in index order."""

    node: NodeName
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSampled:
    """What cards and host do right now, beside what is booked. Comes again when it was read again and is the same."""

    node: NodeName
    uses: tuple[tuple[GpuUuid, GpuUse], ...]
    taken: tuple[tuple[JobId, GpuUuid, int], ...] = ()  # memory of jobs on cards
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
    """Cards that are gone are not waited for any more. Whoever asks made sure that no job holds one."""

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
    """Somebody's own process is taken into the list; the cards it sits on are booked for it."""

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
