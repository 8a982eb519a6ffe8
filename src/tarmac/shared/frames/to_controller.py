"""Agent → controller: reports of attempts, the machine and its GPUs, answers."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from tarmac.shared.frames.base import Answer, OfAttempt, SearchPlace
from tarmac.shared.frames.reports import ReportFrame

ContainmentKind = Literal["cgroup", "scan"]
GpuMake = Literal["nvidia", "amd", "fake", "listed"]
FileKind = Literal["file", "directory", "link", "other"]
OutputVerdict = Literal["good", "has_content", "no_directory", "is_directory", "not_writable", "reserved", "silent"]


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


class LinkEntry(TypedDict):
    kind: str  # wandb, mlflow or tensorboard
    url: str


class FoundLinks(TypedDict):
    links: List[LinkEntry]
    offset: int  # up to where the log was looked at


class LinksFoundFrame(Answer):
    """In the order of the question."""

    type: Literal["links_found"]
    found: List[FoundLinks]


class FoundMetrics(TypedDict):
    """The metrics of one job."""

    values: List[Optional[str]]  # in the order of the patterns
    json: Dict[str, Any]


class _MetricsOptions(TypedDict, total=False):
    is_too_slow: bool  # a pattern takes too long


class MetricsFoundFrame(Answer, _MetricsOptions):
    """The metrics of the first jobs of the question. `place`: where the search of the next one continues."""

    type: Literal["metrics_found"]
    found: List[FoundMetrics]
    place: Optional[SearchPlace]


class PathsCheckedFrame(Answer):
    """In the order of the question: whether each directory exists, a verdict on each output file, and which file it is.

    Two outputs are the same file if they have an identity in common. Null: unknown; empty: a device or a pipe.
    """

    type: Literal["paths_checked"]
    directories: List[Optional[bool]]  # null: the file system does not answer
    outputs: List[OutputVerdict]
    identities: List[Optional[List[str]]]
    present: List[Optional[bool]]  # whether each exists
    programs: List[Optional[bool]]  # whether each can be executed


class VenvEntry(TypedDict):
    is_venv: Optional[bool]  # null: the file system does not answer
    nearest: Optional[str]  # the one that was probably meant


class CondaEntry(TypedDict):
    is_known: Optional[bool]  # null: the file system does not answer
    prefix: Optional[str]
    known: List[str]  # others, the nearest first


class EnvironmentsCheckedFrame(Answer):
    """In the order of the question."""

    type: Literal["environments_checked"]
    venvs: List[VenvEntry]
    condas: List[CondaEntry]


class CheckoutEntry(TypedDict):
    job: int
    is_pruned: bool  # its unchanged files were removed
    stamp_ns: Optional[int]  # the time of its unchanged files


class CheckoutsFrame(Answer):
    type: Literal["checkouts"]
    checkouts: List[CheckoutEntry]


class CheckoutsTidiedFrame(Answer):
    type: Literal["checkouts_tidied"]


class LogsListedFrame(Answer):
    type: Literal["logs_listed"]
    jobs: List[int]


class LogsRemovedFrame(Answer):
    type: Literal["logs_removed"]


class ObjectsMissingFrame(Answer):
    type: Literal["objects_missing"]
    places: List[int]  # in the question


class ObjectsAddedFrame(Answer):
    type: Literal["objects_added"]
    error: Optional[str]
    is_full: bool  # the disk
    is_broken: bool  # what arrived is not what was sent


class ObjectsKeptFrame(Answer):
    type: Literal["objects_kept"]
    removed: int


class FileEntry(TypedDict):
    name: str
    kind: FileKind
    size: int
    mode: int  # permissions
    mtime_ns: int
    target: Optional[str]  # of a link


class FilesListedFrame(Answer):
    type: Literal["files_listed"]
    found: Optional[FileEntry]  # null: it does not exist
    entries: List[FileEntry]
    has_more: bool
    error: Optional[str]


class FileReadFrame(Answer):
    type: Literal["file_read"]
    data: str  # base64; empty at the end of the file
    size: int  # of the file, as it is now
    mtime_ns: int
    error: Optional[str]


class Fingerprint(TypedDict):
    """The Python that a command uses, and the packages that are installed for it."""

    python: str  # its path
    version: str
    packages: Dict[str, str]  # name → version


class FingerprintFrame(TypedDict):
    """What these attempts were started with. Sent a moment later, once for all with the same environment."""

    type: Literal["fingerprint"]
    attempts: List[List[int]]  # job and attempt
    fingerprint: Fingerprint


class FingerprintTaken(Answer):
    type: Literal["fingerprint_taken"]
    fingerprint: Optional[Fingerprint]  # null: no Python, or the file system does not answer


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


class JobMemoryEntry(TypedDict):
    job: int
    attempt: int
    bytes: int


class JobMemoryFrame(Answer):
    type: Literal["job_memory"]
    taken: List[JobMemoryEntry]


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
    EnvironmentsCheckedFrame,
    MetricsFoundFrame,
    CheckoutsFrame,
    CheckoutsTidiedFrame,
    LogsListedFrame,
    LogsRemovedFrame,
    ObjectsMissingFrame,
    ObjectsAddedFrame,
    ObjectsKeptFrame,
    FilesListedFrame,
    FileReadFrame,
    FingerprintTaken,
    LinksFoundFrame,
    ProcessesDescribedFrame,
    PongFrame,
    JobMemoryFrame,
    EndingFrame,
]
AgentFrame = Union[AgentHelloFrame, ReportFrame, GpusFrame, GpusUnchangedFrame, FingerprintFrame, AnswerFrame]
