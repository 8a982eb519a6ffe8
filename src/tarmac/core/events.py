"""What happened, in the past tense: the only things that change the state.

A report about a run names (job, attempt); one of another attempt is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tarmac.core.model import Gpu, JobId, JobSpec, NodeName


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLeft:
    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusSeen:
    """All cards of a node, in index order."""

    node: NodeName
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A run report together with the node it came from."""

    node: NodeName
    report: RunReport


Event: TypeAlias = JobsSubmitted | StopAsked | Reported | NodeJoined | NodeLeft | GpusSeen
