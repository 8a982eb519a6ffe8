"""The records that the client returns: jobs, GPUs, settings and so on, as of the time of the request.

The attributes have the names of the fields of `--json` and the HTTP API; times are aware datetimes.
A record wraps its JSON object, so that a list of thousands costs no more than parsing it.
"""

from __future__ import annotations

from tarmac.shared.clocks import epoch
from tarmac.shared.names import ENDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any, TypeVar

    R = TypeVar("R", bound="Record")

    from tarmac.client.answers import (
        Attempt,
        Fetched,
        GpuRef,
        GpuReservation,
        Leftovers,
        Link,
        Node,
        Notice,
        Part,
        Process,
        Progress,
        Python,
        Snapshot,
    )


class Record:
    """Immutable by convention. `raw` is the JSON object. A missing field is None."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.__dict__ = raw if isinstance(raw, dict) else dict(raw)

    @property
    def raw(self) -> dict[str, Any]:
        return self.__dict__

    def seconds(self, field: str) -> float | None:
        """A time field as seconds since 1970, without importing datetime."""
        text: str | None = self.__dict__.get(field)
        return None if text is None else epoch(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.raw == self.raw

    __hash__ = None  # type: ignore[assignment]


class _Time:
    """A time field: ISO 8601 in the JSON object, an aware datetime as attribute."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, record: Record | None, owner: type[Record]) -> datetime | _Time | None:
        if record is None:
            return self
        text = record.raw.get(self.name)
        if text is None:
            return None
        from datetime import datetime

        return datetime.fromisoformat(text)

    def __set__(self, record: Record, value: object) -> None:
        raise AttributeError(f"{self.name} cannot be changed")


def _fields(*times: str) -> Callable[[type[R]], type[R]]:
    """Make times datetimes, and every field that was not served None: a class attribute costs a list nothing."""

    def add(kind: type[R]) -> type[R]:
        for name in kind.__annotations__:
            setattr(kind, name, _Time(name) if name in times else None)
        return kind

    return add


@_fields("submitted_at", "started_at", "ended_at", "estimated_start", "begin_at", "paused_at", "retry_at")
class Job(Record):
    """One job. In a list, only the fields that were asked for are set; the others are None."""

    id: int
    owner: str
    state: str
    reason: str | None  # why it waits, or how it failed: exit, signal, oom-gpu, launch, …
    exit_code: int | None
    signal: int | None
    attempt: int
    attempts_max: int | None  # the last attempt if every one fails; None for a job that is not retried
    retry_at: datetime | None  # when the next attempt may start, if the job waits between two
    gpus_asked: int
    gpus: list[GpuRef]
    node: str | None
    command: list[str] | None
    cwd: str
    submitted_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_s: float | None  # how long it ran, or has been running; setting the clock does not change it
    pause_s: float  # how long it was paused; not a part of elapsed_s
    paused_at: datetime | None  # since when it is paused
    paused_by: str | None
    estimated_start: datetime | None
    estimate_basis: str | None  # what estimated_start is based on
    estimate_rests_on: list[
        str
    ]  # limit, stop, history, progress, reservation, begin, retry; empty: on what is free now
    progress: Progress | None
    warnings: list[str]  # idle, over its reservation, …
    peak_gpu_memory_bytes: int | None
    utilization: float | None  # of its GPUs, average in percent
    energy_j: float | None
    log_path: str | None
    group: int | None  # the first job of its array, sweep or batch
    index: int | None  # in its array
    links: list[Link] | None  # addresses of experiment trackers in its log
    params: dict[str, str] | None  # of a sweep: the values that it was made of
    waits_for: list[int] | None  # the jobs in `after` that have not ended
    position: int | None  # place among its owner's waiting jobs
    held_by: str | None
    stale_s: float | None  # how old its state is, if its agent does not answer or nothing can be written
    stale_reason: str | None
    # Options, written by `python -m tests.shared.write_job_options`.
    node_count: int
    name: str | None
    priority: int
    tags: list[str]
    note: str | None
    project: str | None
    venv: str | None  # a directory, relative to cwd
    conda: str | None  # a name, or the directory of the environment
    fill: bool
    fetch: list[str]  # files and directories to copy back, relative to cwd
    grace_s: float
    gpu_memory_bytes: int | None  # reserved on each GPU, which is shared
    gpu_share: float | None  # or this part of each GPU
    gpu_models: list[str]  # parts of model names; one must match
    min_gpu_memory_bytes: int | None
    gpus_on: list[int | str]  # by index, UUID or the beginning of a UUID
    exclude_gpus: list[int | str]
    idle_below: int | None  # percent of utilization
    only_nodes: list[str]  # names of nodes; empty: any
    exclude_nodes: list[str]
    prefer_nodes: list[str]
    memory_bytes: int | None  # of the host
    cpus: int | None
    time_limit_s: float | None
    after: list[str]  # "7:ok", "7:any", "7:fail"; "#0:ok" is the first job of the same submit
    begin_at: datetime | None
    tier: str  # urgent, normal or preemptible
    stop_signal: int  # asks it to stop
    retries: int  # how often it runs again; default: the setting
    retry_on: list[str]  # exit, signal, oom, timeout, lost or launch
    retry_delay_s: float | None  # before the first retry; then doubled
    on_oom: str | None  # fail, retry or grow
    requeue: bool
    warn: str | None  # `USR1@120`, or `B:USR1@120` for the main process only
    nice: int  # 0 to 19
    notify: list[str]  # names of targets; default: those of the config file
    notify_on: list[str]  # start, end, fail, oom, idle, retry
    max_running: int | None  # of its group at once
    # End of the options.
    # Only in the answer about a single job:
    message: str | None
    error_line: str | None  # what its output or the kernel says about why it failed
    hint: str | None  # what to do about the reason
    why: list[str] | None
    pid: int | None
    parts: list[Part] | None  # of a job on several nodes
    umask: int | None
    shell: str | None
    origins: dict[str, str] | None  # where options come from that were not given: a file, or `template NAME`
    clone_of: int | None  # the job that it is a copy of
    rerun_of: int | None  # the job that it repeats
    adopted: bool | None  # made from a running process
    original_id: int | None  # of an imported job, its id where it was submitted
    stdout_path: str | None
    stderr_path: str | None
    attempts: list[Attempt] | None  # the first one first
    oom_count: int | None  # attempts that ran out of memory
    python: Python | None  # what its latest attempt was started with; None while that is not known
    snapshot: Snapshot | None  # None: it runs what is in its directory when it starts
    fetched: Fetched | None  # None if there is nothing to fetch, or it has not started yet
    leftovers: Leftovers | None  # processes that were still running when the command had ended
    reserved_gpu_memory_bytes: int | None  # on each of its GPUs
    held_gpu_s: float | None  # GPU-seconds of all attempts
    used_gpu_s: float | None  # the same, weighted by utilization

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.state}>"

    @property
    def is_ended(self) -> bool:
        """True for an unknown job once none of its processes is left."""
        return self.state in ENDED or (self.state == "unknown" and self.raw["ended_at"] is not None)

    @property
    def returncode(self) -> int | None:
        """As a shell would report it: the exit code, 128 + signal, 1 for a job that never ran; None before its end."""
        return self.exit_status if self.is_ended else None

    @property
    def exit_status(self) -> int:
        """The exit code of a command that waited for this job: 0 only if it succeeded."""
        if self.state == "succeeded":
            return 0
        return self.exit_code or (1 if self.signal is None else 128 + self.signal)


@_fields("gone_since")
class Gpu(Record):
    node: str
    index: int | None  # None: it is gone, and another GPU has its index
    uuid: str
    model: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    utilization: int | None  # percent
    temperature: int | None  # °C
    power_w: float | None
    make: str | None  # nvidia, amd, listed, fake
    parent: str | None  # the UUID of the physical GPU, for a MIG instance
    jobs: list[int]
    slots: int | None  # how many jobs may use it at once
    booked_bytes: int | None
    processes: list[Process]
    held: str | None  # the foreign process that blocks it
    health: str | None  # why it is unhealthy
    gone_since: datetime | None  # since when it is gone
    drained: bool
    drained_by: str | None  # None: Tarmac drained it as unhealthy
    reason: str | None  # why it is drained or unhealthy
    warnings: list[str]  # about the jobs on it
    reserved: GpuReservation | None  # the current reservation, or the next one
    stale_s: float | None  # how old the readings are, if the agent of its node does not answer

    def __repr__(self) -> str:
        return f"<Gpu {self.node}:{self.index} {self.model}>"


class GpuOverview:
    """The GPUs, the nodes (first the controller's own machine) and the notice of the admins."""

    __slots__ = ("gpus", "nodes", "notice")

    def __init__(self, gpus: list[Gpu], nodes: list[Node], notice: Notice | None) -> None:
        self.gpus = gpus
        self.nodes = nodes
        self.notice = notice

    def of(self, node: str) -> GpuOverview:
        """Only one node and its GPUs."""
        gpus = [gpu for gpu in self.gpus if gpu.node == node]
        return GpuOverview(gpus, [one for one in self.nodes if one["name"] == node], self.notice)


@_fields()
class Setting(Record):
    name: str
    value: Any
    default: Any
    origin: str  # default, config, live
    kind: str  # fraction, size, seconds, count, choice, flag, words, text, per name
    choices: list[str] | None
    meaning: str
    group: str  # of related settings

    def __repr__(self) -> str:
        return f"<Setting {self.name} = {self.value}>"


class Event:
    """One change: `kind` is "job" or "gpu"; `job` or `gpu` is the new state."""

    __slots__ = ("gpu", "id", "job", "kind")

    def __init__(self, kind: str, data: Mapping[str, Any], event_id: str | None) -> None:
        self.kind = kind
        self.id = event_id
        self.job = Job(data) if kind == "job" else None
        self.gpu = Gpu(data) if kind == "gpu" else None
