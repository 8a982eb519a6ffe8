"""Controller → agent: commands about attempts, questions about the machine."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from tarmac.shared.frames.base import OfAttempt, Origin, Question, SearchPlace

# Attempts


class WarningEntry(TypedDict):
    """A signal `before_s` seconds before the time limit, and at once before a preemption."""

    signal: int
    before_s: float
    main_only: bool  # to the command's process only, not to the whole tree


class SnapshotEntry(TypedDict):
    """The code of a job. All paths are of the node."""

    tree: str  # hash, in hex
    root: str  # the directory it was taken from
    directory: str  # the working directory below it
    links: List[str]  # paths below it that are not stored, but linked to
    objects: str  # the file with the objects
    checkout: str  # the directory for this job's files, the same for all its attempts


class _StartOptions(TypedDict, total=False):
    origin: Origin
    snapshot: Optional[SnapshotEntry]
    warn: Optional[WarningEntry]
    options: Dict[str, Any]  # job options that the agent applies and that have no field here, by wire name


class StartFrame(OfAttempt, _StartOptions):
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
    origin: Origin
    start_time: Optional[int]  # refuse a process with another start time
    uid: Optional[int]  # refuse a process of another user


class AdoptFrame(OfAttempt, _AdoptOptions):
    """Watch a running process as this attempt."""

    type: Literal["adopt"]
    pid: int


class _SignalOptions(TypedDict, total=False):
    warn: Optional[WarningEntry]


class SignalFrame(OfAttempt, _SignalOptions):
    """Send a signal (1 to 64) to the attempt's processes, and SIGKILL `grace_s` seconds later.

    With `warn`, its signal comes first, and the other one after half of the grace period.
    """

    type: Literal["signal"]
    signal: int
    grace_s: float


class PauseFrame(OfAttempt):
    """Freeze the attempt's processes, or let them go on. May be repeated.

    `is_counted`: the time limit's clock runs on during the pause.
    """

    type: Literal["pause"]
    is_paused: bool
    is_counted: bool


class ForgetFrame(OfAttempt):
    """The final report of this attempt is committed; its run directory can go."""

    type: Literal["forget"]


# Questions and requests


class ControllerHelloFrame(TypedDict):
    type: Literal["hello"]
    protocol: int
    version: str


class _ReadOptions(TypedDict, total=False):
    cap: int  # bytes: cut a larger file before it is read


class ReadLogFrame(Question, _ReadOptions):
    """A negative offset counts from the end of the file. Offsets count what a cap has removed, too."""

    type: Literal["read_log"]
    path: str
    offset: int
    limit: int


class _TailOptions(TypedDict, total=False):
    error: bool  # find where the last traceback begins, or the first error line, instead


class TailLogFrame(Question, _TailOptions):
    """Find the offset of the last `lines` lines."""

    type: Literal["tail_log"]
    path: str
    lines: int


class WatchLogFrame(Question):
    """Answer once the size of the file differs from `offset`, or it turns out that the file system hangs."""

    type: Literal["watch_log"]
    path: str
    offset: int


class UnwatchLogFrame(Question):
    type: Literal["unwatch_log"]


class ForgetGpusFrame(Question):
    type: Literal["forget_gpus"]
    uuids: List[str]


class TryGpusFrame(Question):
    type: Literal["try_gpus"]
    uuids: List[str]


class _CheckOptions(TypedDict, total=False):
    present: List[str]  # paths that must exist, whatever they are
    programs: List[str]  # files that must be executable


class CheckPathsFrame(Question, _CheckOptions):
    """Can these directories and output files be used?"""

    type: Literal["check_paths"]
    directories: List[str]
    outputs: List[str]
    reserved: List[str]  # directories of the controller, which no output may be in


class VenvQuestion(TypedDict):
    path: str
    cwd: str  # where another one is looked for


class CondaQuestion(TypedDict):
    name: str  # or the path of its directory
    cwd: str


class CheckEnvironmentsFrame(Question):
    """Are these virtual environments, and where are these conda environments?"""

    type: Literal["check_environments"]
    venvs: List[VenvQuestion]
    condas: List[CondaQuestion]
    variables: Dict[str, str]  # of the submitter, which tell where environments are


class MetricPattern(TypedDict):
    pattern: str  # a regular expression
    group: Union[int, str]  # whose last match is the value


class MetricFiles(TypedDict):
    """The files of one job."""

    paths: List[str]  # logs; the first with a match counts
    json: Optional[str]


class FindMetricsFrame(Question):
    """Find the last matches in the logs of jobs, and values in their JSON files. The answer may have only some."""

    type: Literal["find_metrics"]
    patterns: List[MetricPattern]
    keys: List[str]  # of the JSON files; empty: all
    files: List[MetricFiles]
    place: Optional[SearchPlace]  # in the logs of the first job


class ListCheckoutsFrame(Question):
    """Which jobs have a checkout in this directory?"""

    type: Literal["list_checkouts"]
    directory: str


class PruneEntry(SnapshotEntry):
    attempt: int  # the last one of the job; after a later one, nothing is removed


class TidyCheckoutsFrame(Question):
    """Remove checkouts as a whole, and of others the files that are as in their snapshots."""

    type: Literal["tidy_checkouts"]
    remove: List[str]
    prune: List[PruneEntry]


class ListLogsFrame(Question):
    """Which jobs have logs in the agent's state directory?"""

    type: Literal["list_logs"]


class RemoveLogsFrame(Question):
    """Remove the logs of these jobs from the agent's state directory."""

    type: Literal["remove_logs"]
    jobs: List[int]


class MissingObjectsFrame(Question):
    """Which of these objects are not stored there?"""

    type: Literal["missing_objects"]
    objects: str  # the file with the objects
    hashes: str  # base64, one after the other
    verify: bool  # also read them


class AddObjectsFrame(Question):
    """Store the objects of a pack."""

    type: Literal["add_objects"]
    objects: str
    pack: str  # base64


class AddObjectPartFrame(Question):
    """Part of an object that is too large for one frame. The parts come in order, from offset 0 on."""

    type: Literal["add_object_part"]
    objects: str
    hash: str
    offset: int
    size: int  # of the whole object
    data: str  # base64


class KeepObjectsFrame(Question):
    """Remove all objects that none of these trees has. Never sent to the controller's own machine."""

    type: Literal["keep_objects"]
    objects: str
    trees: List[str]


class ListFilesFrame(Question):
    """What is this path, and what is in it, if it is a directory? No symbolic link is followed."""

    type: Literal["list_files"]
    directory: str  # of the job
    name: str  # relative to it
    after: Optional[str]  # of the entries, only those after this name


class ReadFileFrame(Question):
    type: Literal["read_file"]
    directory: str
    name: str
    offset: int
    limit: int


class FingerprintSubject(TypedDict):
    """What tells which Python a command uses. Empty: not given."""

    program: str  # the first word of the command
    cwd: str
    path: str  # PATH, before an environment is activated
    home: str
    python_path: str
    no_user_site: bool
    venv: str
    conda: str


class TakeFingerprintFrame(Question):
    """Which Python and which packages would this command use now?"""

    type: Literal["take_fingerprint"]
    subject: FingerprintSubject


class LinkFile(TypedDict):
    path: str
    offset: int  # what was looked at before
    is_over: bool  # its job has ended: the last line is whole


class FindLinksFrame(Question):
    """Find addresses of experiment trackers in these logs."""

    type: Literal["find_links"]
    files: List[LinkFile]


class DescribeProcessesFrame(Question):
    type: Literal["describe_processes"]
    pids: List[int]


class PingFrame(Question):
    type: Literal["ping"]


class JobMemoryQuestionFrame(Question):
    """How much of the host's memory does each running attempt take?"""

    type: Literal["job_memory"]


class _ShutdownOptions(TypedDict, total=False):
    is_replaced: bool  # by an agent that takes over the attempts being stopped


class ShutdownFrame(Question, _ShutdownOptions):
    """End. Answered by `ending`: the agent first finishes stopping `ending.stops` jobs, unless it is replaced."""

    type: Literal["shutdown"]


# In the agent's environment


class ListedGpu(TypedDict):
    """A GPU of the config file. TARMAC_LISTED_GPUS is a JSON list of them."""

    index: int
    model: str  # empty if not given
    memory_total_bytes: int  # 0 if not given


PlainQuestionFrame = Union[  # without an answer, the controller asks again later
    ListCheckoutsFrame,
    TidyCheckoutsFrame,
    ListLogsFrame,
    RemoveLogsFrame,
    MissingObjectsFrame,
    AddObjectsFrame,
    AddObjectPartFrame,
    KeepObjectsFrame,
    ListFilesFrame,
    ReadFileFrame,
]
AttemptFrame = Union[StartFrame, AdoptFrame, SignalFrame, PauseFrame, ForgetFrame]
FileQuestionFrame = Union[
    ReadLogFrame,
    TailLogFrame,
    WatchLogFrame,
    UnwatchLogFrame,
    CheckPathsFrame,
    CheckEnvironmentsFrame,
    FindMetricsFrame,
    ListCheckoutsFrame,
    TidyCheckoutsFrame,
    ListLogsFrame,
    RemoveLogsFrame,
    MissingObjectsFrame,
    AddObjectsFrame,
    AddObjectPartFrame,
    KeepObjectsFrame,
    ListFilesFrame,
    ReadFileFrame,
    TakeFingerprintFrame,
    FindLinksFrame,
]
FactsQuestionFrame = Union[FileQuestionFrame, DescribeProcessesFrame, PingFrame, JobMemoryQuestionFrame]
QuestionFrame = Union[
    ReadLogFrame,
    TailLogFrame,
    WatchLogFrame,
    UnwatchLogFrame,
    ForgetGpusFrame,
    TryGpusFrame,
    CheckPathsFrame,
    CheckEnvironmentsFrame,
    FindMetricsFrame,
    ListCheckoutsFrame,
    TidyCheckoutsFrame,
    ListLogsFrame,
    RemoveLogsFrame,
    MissingObjectsFrame,
    AddObjectsFrame,
    AddObjectPartFrame,
    KeepObjectsFrame,
    ListFilesFrame,
    ReadFileFrame,
    TakeFingerprintFrame,
    FindLinksFrame,
    DescribeProcessesFrame,
    PingFrame,
    JobMemoryQuestionFrame,
    ShutdownFrame,
]
ControllerFrame = Union[ControllerHelloFrame, AttemptFrame, QuestionFrame]
