"""The requests to submit and edit jobs: names, types and bounds of their fields."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tarmac.core.model.job import DEFAULT_PRIORITY, TERM, JobSpec
from tarmac.core.model.names import Entry, GroupKind, OnOom, RetryKind, Tier
from tarmac.shared.job_options import JOB_OPTIONS, REQUEST, SPEC, passed_to
from tarmac.shared.names import MOST_RETRIES, RETRY_KINDS

MOST_JOBS = 1_000_000
LONGEST_TEMPLATE = 100_000
LONGEST_NOTE = 100_000
Text = Annotated[str, Meta(max_length=4096)]
Path = Annotated[str, Meta(min_length=1, max_length=4096)]
Gpu = Annotated[int, Meta(ge=0)] | Annotated[str, Meta(min_length=1, max_length=200)]  # index, UUID or start of a UUID
Priority = Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000)]
MOST_TAGS = 100
Tags = Annotated[tuple[Text, ...], Meta(max_length=MOST_TAGS)]
TimeLimit = Annotated[float, Meta(gt=0, le=366 * 86400)]
Moment = Annotated[float, Meta(ge=0, le=253_402_300_799)]  # until the end of the year 9999
AfterWords = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...], Meta(max_length=10_000)]
Targets = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=320)], ...], Meta(max_length=32)]
NotifyEvents = Annotated[tuple[Text, ...], Meta(max_length=16)]
Nice = Annotated[int, Meta(ge=0, le=19)]
TreeHash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
MaxRunning = Annotated[int, Meta(ge=1, le=MOST_JOBS)]
Params = Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], str], Meta(max_length=100)]


Command = Annotated[tuple[str, ...], Meta(min_length=1)]
Shell = Annotated[str, Meta(min_length=1)]
Note = Annotated[str, Meta(max_length=LONGEST_NOTE)]
GpuCount = Annotated[int, Meta(ge=0, le=100_000)]
GpuMemory = Annotated[int, Meta(ge=1)] | Literal["auto"]
GpuShare = Annotated[float, Meta(gt=0, le=1)]
GpuModels = Annotated[tuple[Text, ...], Meta(max_length=32)]
Gpus = Annotated[tuple[Gpu, ...], Meta(max_length=1024)]
Nodes = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...], Meta(max_length=1024)]
NodeCount = Annotated[int, Meta(ge=1, le=1024)]
Percent = Annotated[int, Meta(ge=1, le=100)]
Bytes = Annotated[int, Meta(ge=1)]
Cpus = Annotated[int, Meta(ge=1, le=100_000)]
Signal = Annotated[int, Meta(ge=1, le=64)]
Warn = Annotated[str, Meta(min_length=1, max_length=100)]
Env = Annotated[tuple[str, ...], Meta(max_length=10_000)]
Grace = Annotated[float, Meta(ge=0, le=86400)]
Fetch = Annotated[tuple[Path, ...], Meta(max_length=100)]
Origins = Annotated[dict[Annotated[str, Meta(max_length=100)], Text], Meta(max_length=100)]
Retries = Annotated[int, Meta(ge=0, le=MOST_RETRIES)]
RetryOn = Annotated[tuple[RetryKind, ...], Meta(max_length=len(RETRY_KINDS))]
RetryDelay = Annotated[float, Meta(ge=0, le=7 * 86400)]


class JobRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """One job of a submit."""

    command: Command | None = None
    shell: Shell | None = None
    name: Text | None = None
    project: Text | None = None
    tags: Tags = ()
    note: Note | None = None
    origins: Origins = {}  # where options come from that the submitter did not give, by name
    gpus: GpuCount | None = None  # on each node; 1, or as many as gpus_on names
    node_count: NodeCount | None = None
    gpu_memory_bytes: GpuMemory | None = None  # auto: what its last runs took
    gpu_share: GpuShare | None = None
    gpu_models: GpuModels = ()
    min_gpu_memory_bytes: Annotated[int, Meta(ge=0)] | None = None
    gpus_on: Gpus = ()
    exclude_gpus: Gpus = ()
    idle_below: Percent | None = None
    only_nodes: Nodes = ()
    exclude_nodes: Nodes = ()
    prefer_nodes: Nodes = ()
    memory_bytes: Bytes | None = None
    cpus: Cpus | None = None
    priority: Priority = DEFAULT_PRIORITY
    tier: Tier = "normal"
    time_limit_s: TimeLimit | None = None
    begin_at: Moment | None = None  # seconds since the epoch
    after: AfterWords = ()
    max_running: MaxRunning | None = None  # jobs of the group that may run at once
    fill_paths: bool = False  # log, stdout and stderr contain {id}, {name} or {index}; {{ and }} are braces
    params: Params = {}  # of a sweep: the names and values that the job was made of, in order
    signal: Signal = TERM  # sent to stop the job
    warn: Warn | None = None
    nice: Nice = 0
    retries: Retries | None = None  # as the setting says
    retry_on: RetryOn = ()  # empty: the usual ones
    retry_delay_s: RetryDelay | None = None
    on_oom: OnOom | None = None
    requeue: bool = False
    env: Env = ()
    no_env: bool = False
    venv: Path | None = None
    conda: Path | None = None
    fill: bool = False
    notify: Targets | None = None  # None: the default targets of the owner
    notify_on: NotifyEvents = ()
    cwd: Path | None = None
    log: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None
    append: bool = False
    fetch: Fetch = ()
    grace_s: Grace | None = None
    snapshot: Annotated[int, Meta(ge=0)] | bool | None = None  # which of the submit's snapshots; false: none


class SnapshotRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Code that jobs of a submit run. Its objects were uploaded before."""

    tree: TreeHash
    root: Path  # the directory it was taken from
    directory: Text = ""  # the working directory of the jobs, below the root
    links: Annotated[tuple[Path, ...], Meta(max_length=1000)] = ()  # below the root; not stored, they stay there
    commit: Text | None = None
    branch: Text | None = None
    changed: Annotated[int, Meta(ge=0)] | None = None  # files that differ from the commit


class GroupRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """The jobs form one group. With `indices`, the one job of an array is queued once for each index."""

    kind: GroupKind
    name: Text | None = None
    command: Annotated[str, Meta(max_length=LONGEST_TEMPLATE)] | None = None  # as lists show it: train.py --lr {lr}
    indices: Annotated[str, Meta(min_length=1, max_length=1_000_000)] | None = None  # 0-99, 1-10:2, 1,3,5


class SubmitRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """One or more jobs of one submitter, with the directory, umask and environment they were submitted from."""

    jobs: Annotated[list[JobRequest], Meta(min_length=1, max_length=MOST_JOBS)]
    cwd: Path
    umask: Annotated[int, Meta(ge=0, le=0o777)] = 0o022
    environment: dict[str, str] = {}
    group: GroupRequest | None = None
    snapshots: Annotated[list[SnapshotRequest], Meta(max_length=1000)] = []  # jobs refer to them by index
    can_snapshot: bool = False  # the client takes snapshots: refuse jobs that lack one where the setting wants it
    entry: Entry = "queued"
    dry_run: bool = False  # check the jobs and queue none
    token: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class EditRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """New options of a waiting job, or of a copy. Missing fields stay as they are; null resets an option."""

    command: Command | UnsetType = UNSET
    shell: Shell | UnsetType = UNSET
    cwd: Path | UnsetType = UNSET
    env: Annotated[Env, Meta(min_length=1)] | UnsetType = UNSET  # these variables are set; the others stay
    fill: bool | UnsetType = UNSET
    name: Text | UnsetType | None = UNSET
    project: Text | UnsetType | None = UNSET
    tags: Tags | UnsetType = UNSET
    note: Note | UnsetType | None = UNSET
    gpus: GpuCount | UnsetType | None = UNSET
    node_count: NodeCount | UnsetType | None = UNSET
    gpu_memory_bytes: GpuMemory | UnsetType | None = UNSET
    gpu_share: GpuShare | UnsetType | None = UNSET
    gpu_models: GpuModels | UnsetType = UNSET
    min_gpu_memory_bytes: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    gpus_on: Gpus | UnsetType | None = UNSET
    exclude_gpus: Gpus | UnsetType | None = UNSET
    idle_below: Percent | UnsetType | None = UNSET
    only_nodes: Nodes | UnsetType | None = UNSET
    exclude_nodes: Nodes | UnsetType | None = UNSET
    prefer_nodes: Nodes | UnsetType | None = UNSET
    memory_bytes: Bytes | UnsetType | None = UNSET
    cpus: Cpus | UnsetType | None = UNSET
    priority: Priority | UnsetType = UNSET
    tier: Tier | UnsetType = UNSET
    time_limit_s: TimeLimit | UnsetType | None = UNSET
    begin_at: Moment | UnsetType | None = UNSET
    after: AfterWords | UnsetType | None = UNSET
    max_running: MaxRunning | UnsetType | None = UNSET
    nice: Nice | UnsetType = UNSET
    venv: Path | UnsetType | None = UNSET
    conda: Path | UnsetType | None = UNSET
    signal: Signal | UnsetType | None = UNSET
    warn: Warn | UnsetType | None = UNSET
    grace_s: Grace | UnsetType | None = UNSET
    retries: Retries | UnsetType = UNSET
    retry_on: Annotated[tuple[RetryKind, ...], Meta(min_length=1, max_length=len(RETRY_KINDS))] | UnsetType = UNSET
    retry_delay_s: RetryDelay | UnsetType | None = UNSET
    on_oom: OnOom | UnsetType | None = UNSET
    requeue: bool | UnsetType = UNSET
    notify: Targets | UnsetType | None = UNSET  # None: the default targets of the owner
    notify_on: NotifyEvents | UnsetType | None = UNSET
    log: Path | UnsetType | None = UNSET
    stdout: Path | UnsetType | None = UNSET
    stderr: Path | UnsetType | None = UNSET
    append: bool | UnsetType = UNSET
    fetch: Fetch | UnsetType = UNSET
    fill_paths: bool = False  # as in JobRequest


_OF_SPEC, _OF_REQUEST = passed_to(SPEC), passed_to(REQUEST)
_FOR_ADMINS = [option for option in JOB_OPTIONS if option.admin_values]
_spec_values, _request_values = attrgetter(*_OF_SPEC), attrgetter(*_OF_REQUEST)


def spec_fields(job: JobRequest) -> dict[str, Any]:
    """The fields that are copied to the JobSpec unchanged."""
    return dict(zip(_OF_SPEC, _spec_values(job), strict=True))


def request_fields(job: JobRequest) -> dict[str, Any]:
    """The fields that are copied to the Request unchanged. Missing fields are omitted; Request has their defaults."""
    pairs = zip(_OF_REQUEST, _request_values(job), strict=True)
    return {name: value for name, value in pairs if value is not None}


def is_for_admins(asked: JobRequest | EditRequest | JobSpec) -> bool:
    """True if one of its options has a value that only an admin may set."""
    return any(getattr(asked, option.wire) in option.admin_values for option in _FOR_ADMINS)
