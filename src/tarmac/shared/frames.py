"""The type of every frame: controller → agent, agent → controller, agent → shim, and GPU probe → agent.

For type checkers: import this module under TYPE_CHECKING only. Building the types takes longer than the agent's whole
`tarmac.shared`. `protocol` encodes and decodes the frames; a decoded frame has the shape its "type" promises only as
far as its reader has checked it.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Sequence, TypedDict, Union

ContainmentKind = Literal["cgroup", "scan"]
GpuMake = Literal["nvidia", "amd", "fake", "listed"]
OutputVerdict = Literal["good", "has_content", "no_directory", "is_directory", "not_writable"]
ReportType = Literal["started", "exited", "launch_failed", "lost", "gone"]

AnyFrame = Dict[str, Any]  # decoded, and nothing checked but that it has a "type"


class _OfAttempt(TypedDict):
    job: int
    attempt: int


class _Question(TypedDict, total=False):
    """A frame that is answered. The answer repeats `ref`, which the sender's connection adds."""

    ref: int


class _Answer(TypedDict):
    ref: Optional[int]


# Controller → agent: attempts


class _StartOptions(TypedDict, total=False):
    folder: Optional[str]  # created (0700, with parents) before the log files are opened
    options: Dict[str, Any]  # job options that the agent applies and that have no field here, by wire name


class StartFrame(_OfAttempt, _StartOptions):
    """Start this attempt.

    `limit_s` seconds after the command was released (null: never), the shim sends `stop_signal` to the process tree,
    and SIGKILL `grace_s` seconds later.
    """

    type: Literal["start"]
    argv: Optional[List[str]]
    shell: Optional[str]
    cwd: str
    umask: Optional[int]
    env: Dict[str, str]
    stdout: str
    stderr: Optional[str]
    append: bool
    limit_s: Optional[float]
    stop_signal: int
    grace_s: float


class _AdoptOptions(TypedDict, total=False):
    start_time: Optional[int]  # refuse a process with another start time
    uid: Optional[int]  # refuse a process of another user


class AdoptFrame(_OfAttempt, _AdoptOptions):
    """Watch a running process as this attempt."""

    type: Literal["adopt"]
    pid: int


class SignalFrame(_OfAttempt):
    """Send a signal (1 to 64) to the attempt's processes, and SIGKILL `grace_s` seconds later."""

    type: Literal["signal"]
    signal: int
    grace_s: float


class ForgetFrame(_OfAttempt):
    """The final report of this attempt is committed; its run folder can go."""

    type: Literal["forget"]


# Controller → agent: questions and requests


class ControllerHelloFrame(TypedDict):
    type: Literal["hello"]
    protocol: int
    version: str


class ReadLogFrame(_Question):
    type: Literal["read_log"]
    path: str
    offset: int
    limit: int


class TailLogFrame(_Question):
    """Find the offset of the last `lines` lines."""

    type: Literal["tail_log"]
    path: str
    lines: int


class WatchLogFrame(_Question):
    """Answer once the size of the file differs from `offset`."""

    type: Literal["watch_log"]
    path: str
    offset: int


class UnwatchLogFrame(_Question):
    type: Literal["unwatch_log"]


class ForgetGpusFrame(_Question):
    type: Literal["forget_gpus"]
    uuids: List[str]


class TryGpusFrame(_Question):
    type: Literal["try_gpus"]
    uuids: List[str]


class CheckPathsFrame(_Question):
    """Can these directories and output files be used?"""

    type: Literal["check_paths"]
    directories: List[str]
    outputs: List[str]


class DescribeProcessesFrame(_Question):
    type: Literal["describe_processes"]
    pids: List[int]


class PingFrame(_Question):
    type: Literal["ping"]


class _ShutdownOptions(TypedDict, total=False):
    is_replaced: bool  # by an agent that takes over the attempts being stopped


class ShutdownFrame(_Question, _ShutdownOptions):
    """End. Answered by `ending`: the agent first finishes stopping `ending.stops` jobs, unless it is replaced."""

    type: Literal["shutdown"]


AttemptFrame = Union[StartFrame, AdoptFrame, SignalFrame, ForgetFrame]
FactsQuestionFrame = Union[CheckPathsFrame, DescribeProcessesFrame, PingFrame]
QuestionFrame = Union[
    ReadLogFrame,
    TailLogFrame,
    WatchLogFrame,
    UnwatchLogFrame,
    ForgetGpusFrame,
    TryGpusFrame,
    CheckPathsFrame,
    DescribeProcessesFrame,
    PingFrame,
    ShutdownFrame,
]
ControllerFrame = Union[ControllerHelloFrame, AttemptFrame, QuestionFrame]


# Agent → controller: reports of attempts. The shim sends the same frames to the agent.


class StartedFrame(_OfAttempt):
    type: Literal["started"]
    pid: int
    started_at: float


class _ExitedOptions(TypedDict, total=False):
    adopted: bool  # the exit status of an adopted process is unknown


class ExitedFrame(_OfAttempt, _ExitedOptions):
    """`timed_out`: the time limit's signal was sent while the command was still running."""

    type: Literal["exited"]
    exit_code: Optional[int]
    signal: Optional[int]
    started_at: float
    ended_at: float
    pid: int
    timed_out: bool


class LaunchFailedFrame(_OfAttempt):
    type: Literal["launch_failed"]
    message: str
    at: float


class LostFrame(_OfAttempt):
    """The shim was killed, so the exit status is unknown. `alive`: processes of the attempt still exist."""

    type: Literal["lost"]
    message: str
    alive: bool
    at: float


class GoneFrame(_OfAttempt):
    """The last process of a lost attempt has ended."""

    type: Literal["gone"]
    at: float


ReportFrame = Union[StartedFrame, ExitedFrame, LaunchFailedFrame, LostFrame, GoneFrame]


# Agent → controller: the machine


class AgentHelloFrame(TypedDict):
    """An attempt that `runs` does not list was never started here."""

    type: Literal["hello"]
    protocol: int
    version: str
    node: str
    boot_id: str
    pid: int
    cpus: int
    memory_bytes: int
    containment: ContainmentKind
    containment_reason: Optional[str]
    runs: List[ReportFrame]


class HostMemory(TypedDict):
    memory_total_bytes: int
    memory_available_bytes: int


class GpuProcessEntry(TypedDict):
    """A process on a GPU. `job` and `attempt` are null for a foreign process."""

    pid: int
    user: Optional[str]
    command: Optional[str]
    memory_bytes: Optional[int]
    started_at: Optional[float]
    start_time: Optional[int]  # clock ticks since boot; with the pid, it identifies the process
    job: Optional[int]
    attempt: Optional[int]


class _GpuValues(TypedDict):
    """What both the probe and the agent report of a GPU. Null: the driver does not say."""

    index: int
    model: str
    memory_total_bytes: int
    memory_used_bytes: Optional[int]
    utilization: Optional[int]
    temperature: Optional[int]
    power_w: Optional[float]
    links: Dict[str, int]  # uuid of another GPU → how near it is
    parent: Optional[str]  # uuid of the GPU that this MIG instance is part of
    make: GpuMake


class GpuState(_GpuValues):
    uuid: str
    health: Optional[str]  # what is wrong with it
    gone_since: Optional[float]


class GpuEntry(GpuState):
    processes: List[GpuProcessEntry]


class GpusFrame(TypedDict):
    type: Literal["gpus"]
    gpus: List[GpuEntry]
    error: Optional[str]
    source: str
    host: HostMemory


class GpusUnchangedFrame(TypedDict):
    type: Literal["gpus_unchanged"]


class GpusForgottenFrame(_Answer):
    type: Literal["gpus_forgotten"]


class GpusTriedFrame(_Answer):
    type: Literal["gpus_tried"]
    uuids: List[str]


class LogFrame(_Answer):
    type: Literal["log"]
    offset: int
    size: int
    data: str  # base64


class LogErrorFrame(_Answer):
    type: Literal["log"]
    error: str
    is_missing: bool


class LogTailFrame(_Answer):
    """`is_cut`: fewer lines than requested, because the search stopped at its limit."""

    type: Literal["log_tail"]
    offset: int
    size: int
    is_cut: bool


class LogTailErrorFrame(_Answer):
    type: Literal["log_tail"]
    error: str


class LogGrewFrame(_Answer):
    type: Literal["log_grew"]
    size: int


class PathsCheckedFrame(_Answer):
    """In the order of the question: whether each directory exists, and a verdict on each output file."""

    type: Literal["paths_checked"]
    directories: List[bool]
    outputs: List[OutputVerdict]


class ProcessDescription(TypedDict):
    pid: int
    start_time: int  # clock ticks since boot
    uid: int
    name: str
    command: List[str]  # empty if it has none, or not yet
    cwd: Optional[str]


class ProcessesDescribedFrame(_Answer):
    """Processes that do not exist are left out."""

    type: Literal["processes_described"]
    boot_id: str
    agent_uid: int
    processes: List[ProcessDescription]


class PongFrame(_Answer):
    type: Literal["pong"]


class EndingFrame(_Answer):
    type: Literal["ending"]
    stops: int


AnswerFrame = Union[
    GpusForgottenFrame,
    GpusTriedFrame,
    LogFrame,
    LogErrorFrame,
    LogTailFrame,
    LogTailErrorFrame,
    LogGrewFrame,
    PathsCheckedFrame,
    ProcessesDescribedFrame,
    PongFrame,
    EndingFrame,
]
AgentFrame = Union[AgentHelloFrame, ReportFrame, GpusFrame, GpusUnchangedFrame, AnswerFrame]


# Agent → shim


class LimitEntry(TypedDict):
    seconds: float
    signal: int
    grace_s: float


class AssignFrame(_OfAttempt):
    """The shim's part of a start. The start frame follows, or waits in the run folder when it is too large."""

    type: Literal["assign"]
    port: int
    nth: int
    is_in_folder: bool
    limit: Optional[LimitEntry]


# Shim → agent, besides the reports


class IdleFrame(TypedDict):
    """The shim has seen its attempt through and waits for another."""

    type: Literal["idle"]


# GPU probe → agent


class ProcessInfo(TypedDict):
    """A process, with everything that may tell which job it belongs to."""

    pid: int
    user: Optional[str]
    command: Optional[str]
    started_at: Optional[float]
    cgroup: Optional[str]
    marks: List[str]
    ancestors: Sequence[Sequence[int]]  # pid and start time of the process itself and of all its ancestors


class ProbedProcess(ProcessInfo):
    memory_bytes: Optional[int]  # on the GPU


class ProbedGpu(_GpuValues):
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

Frame = Union[ControllerFrame, AgentFrame, AssignFrame, IdleFrame, ProbeFrame]
