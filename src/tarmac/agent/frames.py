"""The frames inside the agent: agent → shim, shim → agent, and GPU probe → agent. For type checkers only."""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, Sequence, TypedDict, Union

from tarmac.shared.frames.base import OfAttempt, Origin
from tarmac.shared.frames.reports import ExitedFrame, Memory, Outside
from tarmac.shared.frames.to_controller import GpuValues, HostMemory

# Agent → shim


class LimitEntry(TypedDict):
    seconds: float
    signal: int
    grace_s: float
    warn_signal: int
    warn_s: float
    warn_main_only: bool


class AssignFrame(OfAttempt):
    """The shim's part of a start. The start frame follows, or waits in the run directory when it is too large."""

    type: Literal["assign"]
    port: int
    nth: int
    is_in_folder: bool
    limit: Optional[LimitEntry]
    origin: Optional[Origin]


# Shim → agent, besides the reports


class IdleFrame(TypedDict):
    """The shim has seen its attempt through and waits for another."""

    type: Literal["idle"]


class OutputPlace(TypedDict):
    path: str
    begin: int  # where the output of this attempt begins


class Remains(TypedDict):
    """In the exit record of an attempt that failed: where to look for the reason, and what the shim already knows."""

    outputs: List[OutputPlace]  # stdout, and stderr if it has its own file
    cwd: str
    cwd_inode: int
    suspended_s: float  # how long the machine was suspended while it ran


class FailedRecord(ExitedFrame):
    """Older shims write exit records without `remains`."""

    remains: Remains


class FailingFrame(TypedDict):
    """The command failed, and nothing of it is left that could still write. The report follows its exit record."""

    type: Literal["failing"]
    record: FailedRecord


# Agent → file helper, besides the controller's questions


class ExamineFrame(Remains):
    """Why did this attempt fail?"""

    type: Literal["examine"]
    exit_code: Optional[int]


# File helper → agent, besides the answers to the controller


class _Found(TypedDict, total=False):
    error_line: str
    oom: Memory
    outside: Outside


class ExaminedFrame(_Found):
    type: Literal["examined"]


# GPU probe → agent


class ProcessInfo(TypedDict):
    """A process, with everything that may tell which job it belongs to."""

    pid: int
    user: Optional[str]
    command: Optional[str]
    started_at: Optional[float]
    cgroup: Optional[str]
    marks: List[str]
    tag: Optional[int]  # in its limits
    ancestors: Sequence[Sequence[int]]  # pid and start time of the process itself and of all its ancestors


class ProbedProcess(ProcessInfo):
    memory_bytes: Optional[int]  # on the GPU


class ProbedGpu(GpuValues):
    uuid: Optional[str]  # null: the GPU does not even tell that
    processes: List[ProbedProcess]
    fault: Optional[str]  # why it cannot be read
    repair: Optional[str]  # why it should not be used before a reset
    ecc_errors: Optional[int]  # uncorrected, since the driver was loaded


class ProbeReadingFrame(TypedDict):
    type: Literal["gpus"]
    gpus: List[ProbedGpu]
    divided: List[str]  # uuids of GPUs that are divided into MIG instances
    absent: Dict[str, str]  # make → why its driver is not available
    source: str
    host: HostMemory


class XidFrame(TypedDict):
    type: Literal["xid"]
    uuid: str
    number: int


class AliveFrame(TypedDict):
    type: Literal["alive"]


ProbeFrame = Union[ProbeReadingFrame, XidFrame, AliveFrame]
