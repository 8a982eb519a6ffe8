"""Agent → controller: reports of attempts, the machine and its GPUs, answers."""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, TypedDict, Union

from tarmac.shared.frames.base import Answer, OfAttempt

ContainmentKind = Literal["cgroup", "scan"]
GpuMake = Literal["nvidia", "amd", "fake", "listed"]
Memory = Literal["gpu", "host"]
Outside = Literal["killed", "disk-full", "no-cwd", "no-interpreter", "suspend", "reboot"]
Loss = Literal["lost", "reboot"]
OutputVerdict = Literal["good", "has_content", "no_directory", "is_directory", "not_writable", "reserved", "silent"]

# Reports of attempts. The shim sends the same frames to the agent. `at` and `…_at` are wall times, which may be wrong;
# `at_s` and `…_s` are the same moments on the node's boot clock: null if not known, or before the present boot.


class _StartedOptions(TypedDict, total=False):
    paused: bool  # its processes are frozen


class StartedFrame(OfAttempt, _StartedOptions):
    type: Literal["started"]
    pid: int
    started_at: float
    started_s: Optional[float]


class LeftProcess(TypedDict):
    pid: int
    command: Optional[str]  # shortened; null: it ended before it could be read


class Leftovers(TypedDict):
    """The processes that were still there when the command had ended, and that were ended then."""

    count: int
    processes: List[LeftProcess]  # some of them


class _ExitedOptions(TypedDict, total=False):
    leftovers: Leftovers
    outside: Outside  # it failed because of this
    full_disk: bool  # the disk of its log was full
    adopted: bool  # the exit status of an adopted process is unknown
    oom: Memory  # it failed because this memory ran out
    error_line: str  # the line of its output that says why it failed, shortened
    paused_s: float  # how long it was paused in all, if it was
    signalled: bool  # a stop was requested while the command was still running; records of older agents lack it


class ExitedFrame(OfAttempt, _ExitedOptions):
    """`timed_out`: the time limit's signal was sent while the command was still running."""

    type: Literal["exited"]
    exit_code: Optional[int]
    signal: Optional[int]
    started_at: float
    ended_at: float
    ended_s: Optional[float]
    ran_s: Optional[float]  # from its start to its end
    pid: int
    timed_out: bool


class _LaunchFailedOptions(TypedDict, total=False):
    outside: Outside  # what was missing


class LaunchFailedFrame(OfAttempt, _LaunchFailedOptions):
    type: Literal["launch_failed"]
    message: str
    at: float
    at_s: Optional[float]


class _WithLeftovers(TypedDict, total=False):
    leftovers: Leftovers


class _LostOptions(_WithLeftovers, total=False):
    loss: Loss


class LostFrame(OfAttempt, _LostOptions):
    """The shim was killed, so the exit status is unknown. `alive`: processes of the attempt still exist."""

    type: Literal["lost"]
    message: str
    alive: bool
    at: float
    at_s: Optional[float]
    started_s: Optional[float]


class GoneFrame(OfAttempt, _WithLeftovers):
    """The last process of a lost attempt has ended."""

    type: Literal["gone"]
    at: float
    at_s: Optional[float]
    started_s: Optional[float]


ReportFrame = Union[StartedFrame, ExitedFrame, LaunchFailedFrame, LostFrame, GoneFrame]


# The machine


class OriginEntry(OfAttempt):
    body: str  # see Origin


class GuessedGpu(TypedDict):
    uuid: str
    index: int
    parent: Optional[str]


class GuessEntry(OfAttempt):
    """An attempt whose origin is lost: what the process of its command tells."""

    pid: int
    started_at: float
    user: Optional[str]
    argv: List[str]  # of a long command, the beginning
    cwd: Optional[str]
    gpus: List[GuessedGpu]


class AgentHelloFrame(TypedDict):
    """An attempt that `runs` does not list was never started here. `origins` has those of attempts in `runs`."""

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
    at: float  # what the node's wall clock shows
    boot_s: float  # and its boot clock
    origins: List[OriginEntry]
    guesses: List[GuessEntry]


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


class GpuValues(TypedDict):
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


class GpuState(GpuValues):
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


class GpusForgottenFrame(Answer):
    type: Literal["gpus_forgotten"]


class GpusTriedFrame(Answer):
    type: Literal["gpus_tried"]
    uuids: List[str]


class LogFrame(Answer):
    type: Literal["log"]
    offset: int
    size: int
    data: str  # base64


class _LogErrorOptions(TypedDict, total=False):
    is_silent: bool  # the file system does not answer


class LogErrorFrame(Answer, _LogErrorOptions):
    type: Literal["log"]
    error: str
    is_missing: bool


class _TailOptions(TypedDict, total=False):
    is_found: bool  # the error that was asked for


class LogTailFrame(Answer, _TailOptions):
    """`is_cut`: fewer lines than requested, because the search stopped at its limit."""

    type: Literal["log_tail"]
    offset: int
    size: int
    is_cut: bool


class LogTailErrorFrame(Answer, _LogErrorOptions):
    type: Literal["log_tail"]
    error: str


class LogGrewFrame(Answer):
    type: Literal["log_grew"]
    size: int


class LogGrewErrorFrame(Answer):
    type: Literal["log_grew"]
    error: str


class PathsCheckedFrame(Answer):
    """In the order of the question: whether each directory exists, a verdict on each output file, and which file it is.

    Two outputs are the same file if they have an identity in common. Null: unknown; empty: a device or a pipe.
    """

    type: Literal["paths_checked"]
    directories: List[Optional[bool]]  # null: the file system does not answer
    outputs: List[OutputVerdict]
    identities: List[Optional[List[str]]]


class ProcessDescription(TypedDict):
    pid: int
    start_time: int  # clock ticks since boot
    uid: int
    name: str
    command: List[str]  # empty if it has none, or not yet
    cwd: Optional[str]


class ProcessesDescribedFrame(Answer):
    """Processes that do not exist are left out."""

    type: Literal["processes_described"]
    boot_id: str
    agent_uid: int
    processes: List[ProcessDescription]


class PongFrame(Answer):
    type: Literal["pong"]


class EndingFrame(Answer):
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
    LogGrewErrorFrame,
    PathsCheckedFrame,
    ProcessesDescribedFrame,
    PongFrame,
    EndingFrame,
]
AgentFrame = Union[AgentHelloFrame, ReportFrame, GpusFrame, GpusUnchangedFrame, AnswerFrame]
