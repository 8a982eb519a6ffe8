"""Reports of attempts. A report names (job, attempt); a report of any other attempt is ignored."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.leftovers import Leftovers
from tarmac.core.model.names import Loss, Memory, Outside
from tarmac.core.model.note import Note
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStarted:
    job: JobId
    attempt: int
    pid: int
    started_at: float
    is_paused: bool = False  # its processes are frozen
    clock_runs_on: bool = False  # its time limit does not wait for a pause: an older version started it
    port: int | None = None  # that its node chose for MASTER_PORT


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
    warned_at: float | None = None  # when it was warned of its time limit
    is_by_warning: bool = False  # the signal that warned it ended it
    paused_s: float | None = None  # in all; None: the node cannot say
    peak_gpu_memory_bytes: int | None = None  # on one of its GPUs, as far as it was seen
    was_signalled: bool | None = None  # asked to stop while its command still ran; None: the node cannot say


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFailed:
    """No process of the job ever ran."""

    job: JobId
    attempt: int
    message: Note | str  # a note by the controller, or reported by the node
    at: float
    outside: Outside | None = None  # what was missing
    missing: str | None = None  # a file or directory that is not there on the node, and may be on another


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLost:
    """The shim died without an exit record. `is_alive`: processes of the job still run."""

    job: JobId
    attempt: int
    message: Note | str  # reported by the node, or a note by the core
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
class Reported:
    """A report of an attempt and the node it came from."""

    node: NodeName
    report: RunReport
