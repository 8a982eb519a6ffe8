"""A job as the API shows it."""

from __future__ import annotations

from msgspec import Struct

from tarmac.api.schemas.job.job_options import option_types
from tarmac.api.schemas.job.python import PythonView
from tarmac.controller.progress.parser import Progress


class GpuRef(Struct, kw_only=True):
    """`index` is null if another GPU has its number now. `name`: the index, with its node if there are several."""

    node: str
    index: int | None
    uuid: str
    name: str


class LeftProcess(Struct, kw_only=True):
    """`command` is shortened; null if the process ended before it could be read."""

    pid: int
    command: str | None


class Leftovers(Struct, kw_only=True):
    """Processes that were still running when the command had ended; Tarmac ended them. `processes` has some of them."""

    count: int
    processes: list[LeftProcess]


class PartView(Struct, kw_only=True):
    """The part of a job on one of several nodes.

    `state`: waiting (for the start of the first part), starting, running, succeeded, failed, unknown, or cancelled if
    it did not start because another part ended before.
    """

    rank: int  # 0: the first
    node: str
    state: str
    pid: int | None
    exit_code: int | None
    signal: int | None
    message: str | None
    is_cause: bool  # it ended badly first, so the others were stopped
    log_path: str


class AttemptView(Struct, kw_only=True):
    """One attempt. `state`: as of a job; also preempted, and requeued by a stop of the queue."""

    attempt: int
    state: str
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


class SnapshotView(Struct, kw_only=True):
    """The code that the job runs."""

    tree: str  # hash of the stored files
    root: str  # the directory they were taken from
    links: list[str]  # paths in it that are not stored, but linked to
    commit: str | None
    branch: str | None
    changed: int | None  # files that differed from the commit; null: not a git work tree
    is_stored: bool  # false: it was removed, because no job needed it for long
    checkout: str  # the working directory of the job


class FetchView(Struct, kw_only=True):
    """The files of `fetch`. `state`: waiting, copying, done, partial, shared (nothing to do), or gone with its node."""

    state: str
    node: str  # that they are on
    files: int  # that were copied
    bytes: int
    same: int  # files that were there already
    problems: list[str]  # files that were not copied, and why
    more_problems: int  # that are not listed


class LinkView(Struct, kw_only=True):
    """An address of an experiment tracker in the job's log. `kind`: wandb, mlflow or tensorboard."""

    kind: str
    url: str


class JobView(Struct, kw_only=True):
    id: int
    __annotations__.update(option_types(in_list=True))
    owner: str
    state: str
    reason: str | None
    exit_code: int | None
    signal: int | None
    attempt: int
    attempts_max: int | None  # the last attempt if every one fails; null for a job that is not retried
    retry_at: str | None  # when the next attempt may start, if the job waits between two
    gpus_asked: int
    gpus: list[GpuRef]
    node: str | None
    command: list[str]
    cwd: str
    submitted_at: str
    started_at: str | None
    ended_at: str | None
    elapsed_s: float | None  # how long the attempt ran, or has been running; it does not follow a clock that is set
    pause_s: float  # how long the attempt was paused; not a part of elapsed_s
    paused_at: str | None  # since when it is paused
    paused_by: str | None
    estimated_start: str | None
    progress: Progress | None
    peak_gpu_memory_bytes: int | None
    log_path: str
    group: int | None  # the first job of its array, sweep or batch
    waits_for: list[int]
    utilization: float | None
    energy_j: float | None
    warnings: list[str]
    estimate_basis: str | None
    estimate_rests_on: list[
        str
    ]  # the same in words for programs: limit, stop, history, progress, reservation, begin, retry
    index: int | None  # in its array
    params: dict[str, str]  # of a sweep: the values that it was made of
    links: list[LinkView]
    position: int | None
    held_by: str | None
    stale_s: float | None  # how old its state is, if its agent does not answer or nothing can be written
    stale_reason: str | None


class WholeJobView(JobView, kw_only=True):
    message: str | None
    error_line: str | None  # of its output, or of the kernel's log: what says why it failed
    hint: str | None  # what to do about the reason
    why: list[str]
    pid: int | None
    parts: list[PartView]  # of the latest attempt of a job on several nodes; empty for one node
    umask: int
    shell: str | None
    adopted: bool
    original_id: int | None  # of an imported job, its id in the queue where it was submitted
    origins: dict[str, str]  # where options come from that were not given: a file, or `template NAME`
    clone_of: int | None  # the job that it is a copy of
    rerun_of: int | None  # the job that it repeats
    stdout_path: str
    stderr_path: str
    leftovers: Leftovers | None
    snapshot: SnapshotView | None
    fetched: FetchView | None  # null if there is nothing to fetch, or it has not started yet
    python: PythonView | None  # what its latest attempt was started with; null while that is not known
    attempts: list[AttemptView]
    oom_count: int  # attempts that ran out of memory
    reserved_gpu_memory_bytes: int | None  # on each of its GPUs; null if it has none, or their size is not known
    held_gpu_s: float  # GPU-seconds of all attempts; a shared GPU counts by the part that is booked
    used_gpu_s: float  # the same, weighted by utilization

    __annotations__.update(option_types(in_list=False))
