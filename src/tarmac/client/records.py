"""What the Python API hands out: jobs and GPUs as the controller described them at that moment.

The attributes are the fields of `--json` and of the HTTP API, under the same names; times are aware datetimes.
"""

from __future__ import annotations

from tarmac.shared.names import ENDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any


class Record:
    """Frozen by convention; `raw` is the JSON object it was made from."""

    __slots__ = ("raw",)

    raw: dict[str, Any]
    _times: tuple[str, ...] = ()

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = dict(raw)
        for name in self.__slots__:
            value = raw.get(name)
            setattr(self, name, _time(value) if name in self._times else value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.raw == self.raw

    __hash__ = None  # type: ignore[assignment]


class Job(Record):
    """One job. Of a list, only the fields that were asked for are set; the others are None."""

    __slots__ = (
        "after", "attempt", "attempts", "begin_at", "command", "cpus", "cwd", "ended_at", "energy_j", "estimate_basis",
        "estimated_start", "exclude_gpus", "exit_code", "gpu_memory_bytes", "gpu_models", "gpu_share", "gpus",
        "gpus_asked", "gpus_on", "grace_s", "group", "held_by", "id", "idle_below", "index", "log_path", "max_running",
        "memory_bytes", "message", "min_gpu_memory_bytes", "name", "node", "owner", "peak_gpu_memory_bytes", "pid",
        "position", "priority", "progress", "project", "reason", "shell", "signal", "started_at", "state",
        "stderr_path", "stdout_path", "stop_signal", "submitted_at", "tags", "tier", "time_limit_s", "umask",
        "utilization", "warnings", "why",
    )  # fmt: skip
    _times = ("submitted_at", "started_at", "ended_at", "estimated_start", "begin_at")

    id: int
    name: str | None
    owner: str
    project: str | None
    tags: list[str]
    state: str
    reason: str | None  # why it waits, or how it failed: exit, signal, launch, …
    exit_code: int | None
    signal: int | None
    attempt: int
    priority: int
    tier: str  # urgent, normal or preemptible
    gpus_asked: int
    gpus: list[dict[str, Any]]  # node, index, uuid of each; no index where another GPU has got it
    node: str | None
    command: list[str] | None
    cwd: str
    submitted_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    estimated_start: datetime | None
    progress: dict[str, float] | None  # fraction, eta_s
    gpu_memory_bytes: int | None  # what it books of each GPU
    gpu_share: float | None  # or which part
    gpu_models: list[str] | None
    min_gpu_memory_bytes: int | None
    gpus_on: list[int | str] | None  # indices as they are now; the UUID of a GPU that has none
    exclude_gpus: list[int | str] | None
    idle_below: int | None  # per cent
    memory_bytes: int | None  # what it books of the host
    cpus: int | None
    warnings: list[str]  # idle, over its booking, …
    peak_gpu_memory_bytes: int | None
    utilization: float | None  # of its GPUs, on average, in per cent
    energy_j: float | None
    log_path: str | None
    group: int | None  # the first job of its array
    index: int | None  # its number in the array
    max_running: int | None  # of its array at once
    after: list[str]  # 7:ok
    time_limit_s: float | None
    begin_at: datetime | None
    estimate_basis: str | None  # what estimated_start rests on
    position: int | None  # place among its owner's waiting jobs
    held_by: str | None
    # Only in the answer about a single job:
    message: str | None
    why: list[str] | None
    pid: int | None
    attempts: int | None
    umask: int | None
    shell: str | None
    stdout_path: str | None
    stderr_path: str | None
    grace_s: float | None
    stop_signal: int | None

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.state}>"

    @property
    def is_ended(self) -> bool:
        return is_ended(self.raw)

    @property
    def returncode(self) -> int | None:
        """As a shell would report it: the exit code, 128 + signal, 1 for one that never ran; None before its end."""
        return exit_status(self.raw) if self.is_ended else None


class Gpu(Record):
    __slots__ = (
        "booked_bytes", "drained", "gone_since", "health", "held", "index", "jobs", "make", "memory_total_bytes",
        "memory_used_bytes", "model", "node", "parent", "power_w", "processes", "reason", "slots", "temperature",
        "utilization", "uuid",
    )  # fmt: skip

    _times = ("gone_since",)

    node: str
    index: int | None  # None: it is gone, and another GPU has got its number
    uuid: str
    model: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    utilization: int | None  # per cent
    temperature: int | None  # °C
    power_w: float | None
    make: str | None  # nvidia, amd, listed, fake
    parent: str | None  # the UUID of the physical GPU, for a MIG instance
    jobs: list[int]
    slots: int | None  # how many times it is offered
    booked_bytes: int | None
    processes: list[dict[str, Any]]  # pid, user, command, memory_bytes, started_at, job, ignored
    held: str | None  # which process of somebody else keeps it from being used
    health: str | None  # why it is sick
    gone_since: datetime | None  # when it was missed first, while it is not there
    drained: bool
    reason: str | None  # why drained or sick

    def __repr__(self) -> str:
        return f"<Gpu {self.node}:{self.index} {self.model}>"


class Setting(Record):
    __slots__ = ("choices", "default", "kind", "meaning", "name", "origin", "value")

    name: str
    value: Any
    default: Any
    origin: str  # default, config, live
    kind: str  # fraction, size, seconds, count, choice, flag, words, text, per name
    choices: list[str] | None
    meaning: str

    def __repr__(self) -> str:
        return f"<Setting {self.name} = {self.value}>"


class Event:
    """One change: `kind` is "job" or "gpu", `job` or `gpu` what it is now."""

    __slots__ = ("gpu", "id", "job", "kind")

    def __init__(self, kind: str, data: Mapping[str, Any], event_id: str | None) -> None:
        self.kind = kind
        self.id = event_id
        self.job = Job(data) if kind == "job" else None
        self.gpu = Gpu(data) if kind == "gpu" else None


def is_ended(job: Mapping[str, Any]) -> bool:
    """An unknown job has ended when nothing is left of it."""
    return job["state"] in ENDED or (job["state"] == "unknown" and job["ended_at"] is not None)


def exit_status(job: Mapping[str, Any]) -> int:
    """What a command that waited for this job exits with: 0 only if it succeeded."""
    if job.get("state") == "succeeded":
        return 0
    if job.get("exit_code"):
        return int(job["exit_code"])
    if job.get("signal") is not None:
        return 128 + int(job["signal"])
    return 1


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    from datetime import datetime

    return datetime.fromisoformat(text)
