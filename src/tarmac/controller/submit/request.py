"""The requests to submit and edit jobs: names, types and bounds of their fields."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tarmac.core.model.job import DEFAULT_PRIORITY, TERM, JobSpec
from tarmac.core.model.names import Entry, OnOom, RetryKind, Tier
from tarmac.shared.job_options import JOB_OPTIONS, REQUEST, SPEC, passed_to
from tarmac.shared.names import MOST_RETRIES, RETRY_KINDS

MOST_JOBS = 1_000_000
Text = Annotated[str, Meta(max_length=4096)]
Path = Annotated[str, Meta(min_length=1, max_length=4096)]
Gpu = Annotated[int, Meta(ge=0)] | Annotated[str, Meta(min_length=1, max_length=200)]  # index, UUID or start of a UUID
Priority = Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000)]
Tags = Annotated[tuple[Text, ...], Meta(max_length=100)]
TimeLimit = Annotated[float, Meta(gt=0, le=366 * 86400)]
Moment = Annotated[float, Meta(ge=0, le=253_402_300_799)]  # until the end of the year 9999
AfterWords = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...], Meta(max_length=10_000)]
Targets = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=320)], ...], Meta(max_length=32)]
NotifyEvents = Annotated[tuple[Text, ...], Meta(max_length=16)]
Nice = Annotated[int, Meta(ge=0, le=19)]
MaxRunning = Annotated[int, Meta(ge=1, le=MOST_JOBS)]


Retries = Annotated[int, Meta(ge=0, le=MOST_RETRIES)]
RetryOn = Annotated[tuple[RetryKind, ...], Meta(max_length=len(RETRY_KINDS))]
RetryDelay = Annotated[float, Meta(ge=0, le=7 * 86400)]


class JobRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """One job of a submit."""

    command: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    shell: Annotated[str, Meta(min_length=1)] | None = None
    name: Text | None = None
    project: Text | None = None
    tags: Tags = ()
    gpus: Annotated[int, Meta(ge=0, le=100_000)] | None = None  # 1, or as many as gpus_on names
    gpu_memory_bytes: Annotated[int, Meta(ge=1)] | Literal["auto"] | None = None  # auto: what its last runs took
    gpu_share: Annotated[float, Meta(gt=0, le=1)] | None = None
    gpu_models: Annotated[tuple[Text, ...], Meta(max_length=32)] = ()
    min_gpu_memory_bytes: Annotated[int, Meta(ge=0)] | None = None
    gpus_on: Annotated[tuple[Gpu, ...], Meta(max_length=1024)] = ()
    exclude_gpus: Annotated[tuple[Gpu, ...], Meta(max_length=1024)] = ()
    idle_below: Annotated[int, Meta(ge=1, le=100)] | None = None
    memory_bytes: Annotated[int, Meta(ge=1)] | None = None
    cpus: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    priority: Priority = DEFAULT_PRIORITY
    tier: Tier = "normal"
    time_limit_s: TimeLimit | None = None
    begin_at: Moment | None = None  # seconds since the epoch
    after: AfterWords = ()
    max_running: MaxRunning | None = None  # jobs of the array that may run at once
    signal: Annotated[int, Meta(ge=1, le=64)] = TERM  # sent to stop the job
    warn: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    nice: Nice = 0
    retries: Retries | None = None  # as the setting says
    retry_on: RetryOn = ()  # empty: the usual ones
    retry_delay_s: RetryDelay | None = None
    on_oom: OnOom | None = None
    requeue: bool = False
    env: Annotated[tuple[str, ...], Meta(max_length=10_000)] = ()
    fill: bool = False
    notify: Targets | None = None  # None: the default targets of the owner
    notify_on: NotifyEvents = ()
    cwd: Path | None = None
    log: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None
    append: bool = False
    grace_s: Annotated[float, Meta(ge=0, le=86400)] | None = None


class SubmitRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """One or more jobs of one submitter, with the directory, umask and environment they were submitted from."""

    jobs: Annotated[list[JobRequest], Meta(min_length=1, max_length=MOST_JOBS)]
    cwd: Path
    umask: Annotated[int, Meta(ge=0, le=0o777)] = 0o022
    environment: dict[str, str] = {}
    array: bool = False  # the jobs form one array
    entry: Entry = "queued"
    token: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class EditRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """New options of a waiting job. Missing fields stay as they are; null clears an option."""

    name: Text | UnsetType | None = UNSET
    project: Text | UnsetType | None = UNSET
    tags: Tags | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    tier: Tier | UnsetType = UNSET
    time_limit_s: TimeLimit | UnsetType | None = UNSET
    begin_at: Moment | UnsetType | None = UNSET
    after: AfterWords | UnsetType | None = UNSET
    max_running: MaxRunning | UnsetType | None = UNSET
    nice: Nice | UnsetType = UNSET
    retries: Retries | UnsetType = UNSET
    retry_on: Annotated[tuple[RetryKind, ...], Meta(min_length=1, max_length=len(RETRY_KINDS))] | UnsetType = UNSET
    retry_delay_s: RetryDelay | UnsetType | None = UNSET
    on_oom: OnOom | UnsetType | None = UNSET
    notify: Targets | UnsetType | None = UNSET  # None: the default targets of the owner
    notify_on: NotifyEvents | UnsetType | None = UNSET


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
