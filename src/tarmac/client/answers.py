"""The JSON objects that the client returns as they are. For type checkers only: nothing imports it at run time."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class GpuRef(TypedDict):
    node: str
    index: int | None  # None: another GPU has its index
    uuid: str
    name: str  # the index, with its node if there are several; the UUID if it has no index


class GoneNode(TypedDict):
    name: str
    fetched_logs: int
    unknown_jobs: list[int]


class NodeChanges(TypedDict, total=False):
    """What `change_node` takes."""

    host: str  # as `ssh` takes it
    user: str | None  # the account there; None: as the ssh config says
    port: int | None
    address: str | None  # where other nodes reach it; None: by its host name
    watch_only: bool  # show its GPUs, but start no jobs there
    environment: dict[str, str]  # of its agent


class NodeOptions(TypedDict, total=False):
    """What `add_node` takes besides the name and the host."""

    user: str | None
    port: int | None
    address: str | None
    watch_only: bool
    environment: dict[str, str]
    later: bool


class Progress(TypedDict):
    fraction: float
    eta_s: float | None


class Group(TypedDict):
    """An array, a sweep or a batch."""

    id: int  # of its first job
    kind: str
    name: str | None
    owner: str
    command: str  # with placeholders
    varies: str  # what differs between its jobs, in short
    params: list[str]  # names of a sweep's parameters
    indices: str | None  # of an array
    count: int  # of the jobs that were submitted
    last: int  # the id of its last job
    counts: dict[str, int]  # by state
    ended: int
    max_running: int | None
    submitted_at: str


class Link(TypedDict):
    kind: str  # wandb, mlflow or tensorboard
    url: str


class Result(TypedDict):
    id: int
    name: str | None
    state: str
    index: int | None
    params: dict[str, str]
    metrics: dict[str, float | str | None]  # None: not found


class Results(TypedDict):
    group: Group | None
    metrics: list[str]
    smaller_is_better: list[str]  # of these, by their names
    jobs: list[Result]
    unread: list[int]  # their node, or a file system, does not answer


class Process(TypedDict):
    pid: int
    user: str | None
    command: str | None
    memory_bytes: int | None
    started_at: str | None
    job: int | None  # None: Tarmac did not start it
    ignored: bool
    holds_gpu: bool  # it keeps jobs off the GPU and is named in `held`


class Snapshot(TypedDict):
    """The code that a job runs."""

    tree: str  # hash of the stored files
    root: str  # the directory they were taken from
    links: list[str]  # paths in it that are not stored, but linked to
    commit: str | None
    branch: str | None
    changed: int | None  # files that differed from the commit; None: not a git work tree
    is_stored: bool  # False: it was removed, because no job needed it for long
    checkout: str  # the working directory of the job


class Fetched(TypedDict):
    """The files of a job that are copied back from its node."""

    state: str  # waiting, copying, done, partial, shared (nothing to copy), or gone with its node
    node: str
    files: int  # that were copied
    bytes: int
    same: int  # files that were there already
    problems: list[str]  # files that were not copied, and why
    more_problems: int  # that are not listed


class LeftProcess(TypedDict):
    pid: int
    command: str | None  # shortened


class Part(TypedDict):
    """The part of a job on one of several nodes."""

    rank: int  # 0: the first
    node: str
    state: str  # waiting, starting, running, succeeded, failed, unknown, or cancelled: it did not start
    pid: int | None
    exit_code: int | None
    signal: int | None
    message: str | None
    is_cause: bool  # it ended badly first, so the others were stopped
    log_path: str


class Leftovers(TypedDict):
    count: int
    processes: list[LeftProcess]  # some of them


class NotRetried(TypedDict):
    id: int
    reason: str


class Retried(TypedDict):
    retried: list[int]
    not_retried: list[NotRetried]
    notice: str | None  # why they may not start for a while, or will fail again


class Killed(TypedDict):
    asked: list[int]
    already_ended: list[int]
    not_asked: list[int]  # waiting jobs, while nothing can be written
    unwritten: str | None  # why the request is not on disk yet


class Variable(TypedDict):
    name: str
    value: str | None  # None: it looks like a secret
    is_secret: bool


class Python(TypedDict):
    path: str
    version: str
    packages: dict[str, str]  # name → version


class PackageChange(TypedDict):
    name: str  # `python` is the interpreter itself
    then: str | None  # None: not installed
    now: str | None


class StoryEvent(TypedDict):
    id: int
    at: str
    attempt: int
    kind: str
    detail: dict[str, Any]


class ReservedGpu(TypedDict):
    index: int | None
    uuid: str
    name: str


class GpuReservation(TypedDict):
    id: int
    owner: str
    begins_at: str
    ends_at: str
    active: bool


class Reservation(TypedDict):
    id: int
    owner: str
    node: str
    gpus: list[ReservedGpu]
    begins_at: str
    ends_at: str
    by: str
    active: bool
    used: bool  # a job of its owner has started
    warnings: NotRequired[list[str]]  # in the answer to its creation


class ReportSums(TypedDict):  # all times are GPU-seconds
    jobs: int | None  # null for a single GPU
    held_s: float
    pause_s: float  # of these, paused
    measured_s: float  # of these, with a known utilization
    used_s: float  # measured, weighted by utilization
    utilization: float | None  # percent, of what was measured
    energy_j: float | None
    peak_gpu_memory_bytes: int | None


class ReportRow(ReportSums):
    name: str | None  # of the owner, project, day or GPU
    node: str | None
    uuid: str | None


class Report(TypedDict):
    by: str
    since: str  # the first day
    until: str  # the last day
    rows: list[ReportRow]
    foreign: ReportSums | None  # processes that Tarmac did not start
    total: ReportSums


class Why(TypedDict):
    id: int
    state: str
    position: int | None
    ahead: int | None
    asked: dict[str, Any]
    free: dict[str, Any]
    reasons: list[dict[str, Any]]
    gpus: list[dict[str, Any]]
    estimated_start: str | None
    estimate_basis: str | None
    lines: list[str]


class NotifyTarget(TypedDict):
    name: str
    owner: str | None  # None: for all users
    url: str | None  # masked; None: the config file no longer has it
    default: bool
    waiting: int
    failed: int
    error: str | None


class NotifyOverview(TypedDict):
    targets: list[NotifyTarget]
    installed: bool  # apprise, which sends the messages


class NotifyTest(TypedDict):
    target: str
    error: str | None  # None: the server accepted the message


class PageLink(TypedDict):
    url: str
    lasts_s: float


class Notifications(TypedDict):
    waiting: int
    failed: int
    target: str | None  # of the newest error
    error: str | None
    failing: NotRequired[list[str]]  # every target whose last message could not be sent


class Notice(TypedDict):
    text: str
    by: str
    at: str


class Attempt(TypedDict):
    attempt: int
    state: str  # as of a job; also preempted, and requeued by a stop of the queue
    reason: str | None
    exit_code: int | None
    signal: int | None
    node: str
    gpus: list[GpuRef]
    started_at: str | None
    ended_at: str | None
    elapsed_s: float | None  # without pauses
    pause_s: float
    peak_gpu_memory_bytes: int | None
    log_path: str | None
    message: str | None
    error_line: str | None


class Suspension(TypedDict):
    owner: str
    reason: str
    since: str


class Queue(TypedDict):
    paused: bool
    draining: bool
    by: str | None
    reason: str | None
    since: str | None
    queued: int
    running: int
    policy: str
    order: str
    suspended: NotRequired[list[Suspension]]  # users whose jobs all fail; an older controller has none
    notice: NotRequired[Notice | None]  # of the admins to all users; an older controller has none


class Node(TypedDict):
    name: str
    kind: str  # how it is reached: local or ssh
    address: str | None  # where other nodes reach it; None: on this machine
    state: str  # reachable, unreachable, needs-login, rebooted, drained or removed
    reason: str | None  # why it is in this state
    since: str  # when that began
    connected: bool  # to its agent
    connected_at: str | None
    problem: str | None  # why it is not connected
    version: str | None  # of its agent
    boot_id: str | None
    agent_pid: int | None
    containment: str | None
    watch_only: bool  # its GPUs are shown, and no job starts there
    drained: bool
    drained_by: str | None  # None: not drained, or drained by Tarmac
    drain_reason: str | None
    gpus: int
    running: int  # jobs that hold something there
    queued: int  # waiting jobs that may run there
    cpus: int | None
    memory_total_bytes: int | None  # of the host
    memory_available_bytes: int | None
    host: str | None  # as `ssh` takes it; None if it is not reached over SSH
    user: str | None
    port: int | None
    warnings: list[str]  # what may harm jobs there


class Status(TypedDict):
    controller_pid: int
    agent_pid: int | None
    agent_answers: bool
    agent_silent_s: float | None  # how long ago it was heard of, if it does not answer
    version: str
    api: int
    policy: str
    order: str
    paused: bool
    paused_reason: str | None
    draining: bool
    suspended: NotRequired[list[Suspension]]
    running: int
    queued: int
    containment: str | None  # cgroup or scan
    containment_reason: str | None
    node: str | None
    home: str
    uptime_s: float
    database_bytes: int
    degraded: str | None  # why nothing can be written
    degraded_since: str | None
    notifications: NotRequired[Notifications | None]  # None: none waits, and none failed
    nodes: list[Node]  # the controller's own machine first
