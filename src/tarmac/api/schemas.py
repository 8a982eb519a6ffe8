"""The shapes of requests and answers, for OpenAPI and for checking what comes in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from tarmac.controller.submit.request import EditRequest

Grace = Annotated[float, Meta(ge=0, le=86400)]
MOST_PER_PAGE = 10_000
LONGEST_WAIT_S = 300


class JobsQuery(Struct, kw_only=True):
    ids: str | None = None
    state: str | None = None
    owner: str | None = None
    name: str | None = None
    tag: str | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_PER_PAGE)] = 1000
    after: int | None = None
    order: Literal["asc", "desc"] = "asc"
    fields: str | None = None


class WaitQuery(Struct, kw_only=True):
    ids: str
    timeout_s: Annotated[float, Meta(ge=0, le=LONGEST_WAIT_S)] = 30.0


class LogQuery(Struct, kw_only=True):
    stream: Literal["stdout", "stderr"] = "stdout"
    attempt: Annotated[int, Meta(ge=1)] | None = None
    lines: Annotated[int, Meta(ge=0)] | None = None
    offset: Annotated[int, Meta(ge=0)] | None = None
    follow: bool = False


class EventsQuery(Struct, kw_only=True):
    jobs: str | None = None


class SamplesQuery(Struct, kw_only=True):
    since_s: Annotated[float, Meta(ge=0)] = 86400.0
    fine: bool = False


class ErrorDetail(Struct, kw_only=True):
    code: str
    message: str
    hint: str | None


class ErrorAnswer(Struct, kw_only=True):
    error: ErrorDetail


class Selection(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which jobs are meant. Without any condition nothing is: say `all`."""

    ids: list[str] = []
    name: str | None = None
    tag: str | None = None
    state: str | None = None
    owner: str | None = None


class KillRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    grace_s: Grace | None = None


class EditManyRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    changes: EditRequest


class EditAnswer(Struct, kw_only=True):
    edited: list[int]
    not_waiting: list[int]


class HoldAnswer(Struct, kw_only=True):
    held: list[int]
    not_waiting: list[int]


class ReleaseAnswer(Struct, kw_only=True):
    released: list[int]
    not_held: list[int]


class MoveRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """The place among its owner's waiting jobs; the first is 1. Behind the last is the last."""

    position: Annotated[int, Meta(ge=1, le=2**31)]


class MoveAnswer(Struct, kw_only=True):
    position: int
    priority: int


class StartRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """On these GPUs (indices or UUIDs), else on those that disturb least."""

    gpus_on: Annotated[list[int | str], Meta(min_length=1, max_length=1024)] | None = None
    yes: bool = False


class StopRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    agent: bool = True


class StopAnswer(Struct, kw_only=True):
    """`stopping`: how many jobs are still being stopped; the agent stays until they have ended."""

    controller_pid: int
    stopping: int


class SubmitAnswer(Struct, kw_only=True):
    ids: list[int]


class KillAnswer(Struct, kw_only=True):
    asked: list[int]
    already_ended: list[int]


class RemoveAnswer(Struct, kw_only=True):
    removed: list[int]


class GpuRef(Struct, kw_only=True):
    """`index` is null where another GPU has got its number."""

    node: str
    index: int | None
    uuid: str


class StartAnswer(Struct, kw_only=True):
    gpus: list[GpuRef]


class Progress(Struct, kw_only=True):
    fraction: float
    eta_s: float | None


class JobView(Struct, kw_only=True):
    id: int
    name: str | None
    owner: str
    project: str | None
    tags: list[str]
    state: str
    reason: str | None
    exit_code: int | None
    signal: int | None
    attempt: int
    priority: int
    tier: str
    gpus_asked: int
    gpus: list[GpuRef]
    node: str | None
    command: list[str]
    cwd: str
    submitted_at: str
    started_at: str | None
    ended_at: str | None
    estimated_start: str | None
    progress: Progress | None
    peak_gpu_memory_bytes: int | None
    log_path: str
    group: int | None
    after: list[str]
    gpu_memory_bytes: int | None
    gpu_share: float | None
    gpu_models: list[str]
    min_gpu_memory_bytes: int | None
    gpus_on: list[int | str]
    exclude_gpus: list[int | str]
    idle_below: int | None
    memory_bytes: int | None
    cpus: int | None
    utilization: float | None
    energy_j: float | None
    warnings: list[str]
    estimate_basis: str | None
    time_limit_s: float | None
    begin_at: str | None
    index: int | None
    max_running: int | None
    position: int | None
    held_by: str | None


class WholeJobView(JobView, kw_only=True):
    message: str | None
    why: list[str]
    pid: int | None
    umask: int
    grace_s: float
    shell: str | None
    stdout_path: str
    stderr_path: str
    stop_signal: int


class WhyReason(Struct, kw_only=True):
    """Further fields say it in numbers; which ones depends on the kind."""

    kind: str
    text: str


class WhyGpu(Struct, kw_only=True):
    node: str
    index: int
    uuid: str
    text: str
    jobs: list[int]
    until: str | None


class WhyView(Struct, kw_only=True):
    id: int
    state: str
    position: int | None
    ahead: int | None
    asked: dict[str, Any]
    free: dict[str, Any]
    reasons: list[WhyReason]
    gpus: list[WhyGpu]
    estimated_start: str | None
    estimate_basis: str | None
    lines: list[str]


class QueueRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=4096)] | None = None


class QueueStopRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Jobs that run are put back in front; without `requeue` nothing is done."""

    requeue: bool = False
    grace_s: Grace | None = None


class QueueStopAnswer(Struct, kw_only=True):
    stopping: list[int]


class QueueView(Struct, kw_only=True):
    paused: bool
    draining: bool
    by: str | None
    reason: str | None
    since: str | None
    queued: int
    running: int
    policy: str


class ReservationRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """`gpus` GPUs of one machine, `from` then (seconds since the epoch) on for so many seconds."""

    gpus: Annotated[int, Meta(ge=1, le=100_000)]
    from_: Annotated[float, Meta(ge=0, le=253_402_300_799)] = field(name="from")
    for_s: Annotated[float, Meta(ge=1, le=366 * 86400)]
    user: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


class ReservedGpu(Struct, kw_only=True):
    index: int | None
    uuid: str


class ReservationView(Struct, kw_only=True):
    id: int
    owner: str
    node: str
    gpus: list[ReservedGpu]
    begins_at: str
    ends_at: str
    by: str
    active: bool
    used: bool


class MadeReservation(ReservationView, kw_only=True):
    """`warnings`: what the maker should know, such as a GPU that may not be free in time."""

    warnings: list[str]


class ReservationList(Struct, kw_only=True):
    reservations: list[ReservationView]


class JobPage(Struct, kw_only=True):
    """`next` is what to give as `after` for the following page; null on the last one."""

    jobs: list[JobView]
    next: int | None


class WaitAnswer(Struct, kw_only=True):
    jobs: list[JobView]
    pending: list[int]


class StoryEvent(Struct, kw_only=True):
    id: int
    at: str
    attempt: int
    kind: str
    detail: dict[str, Any]


class Story(Struct, kw_only=True):
    events: list[StoryEvent]


class GpuProcess(Struct, kw_only=True):
    pid: int
    user: str | None
    command: str | None
    memory_bytes: int | None
    started_at: str | None
    job: int | None
    ignored: bool


class GpuView(Struct, kw_only=True):
    """`index` is null where the GPU is gone and another one has got its number."""

    node: str
    index: int | None
    uuid: str
    model: str
    memory_total_bytes: int
    memory_used_bytes: int | None
    utilization: int | None
    temperature: int | None
    jobs: list[int]
    processes: list[GpuProcess]
    drained: bool
    reason: str | None
    power_w: float | None
    slots: int
    booked_bytes: int
    make: str
    parent: str | None
    health: str | None
    gone_since: str | None
    held: str | None


class GpuSample(Struct, kw_only=True):
    """One GPU at one reading, or averaged over a minute in which it did anything."""

    at: str
    memory_used_bytes: int | None
    utilization: float | None
    power_w: float | None


class GpuSamples(Struct, kw_only=True):
    samples: list[GpuSample]


class GpuSelection(Struct, kw_only=True, forbid_unknown_fields=True):
    """GPUs by index or UUID; by index on the only node there is."""

    gpus: Annotated[list[str], Meta(min_length=1)]


class DrainRequest(GpuSelection, kw_only=True, forbid_unknown_fields=True):
    reason: str | None = None


class SlotsRequest(GpuSelection, kw_only=True, forbid_unknown_fields=True):
    slots: Annotated[int, Meta(ge=1, le=64)]


class IgnoreRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """One process by its pid, or every process of a program by its name."""

    pid: Annotated[int, Meta(ge=1)] | None = None
    command: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    forget: bool = False


class GpusAnswer(Struct, kw_only=True):
    gpus: list[str]


class IgnoreAnswer(Struct, kw_only=True):
    ignored: list[str]


class AdoptRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    pid: Annotated[int, Meta(ge=1)]
    gpus: list[int] | None = None
    name: str | None = None


class AdoptAnswer(Struct, kw_only=True):
    id: int


class SettingView(Struct, kw_only=True):
    name: str
    value: str
    default: str
    origin: str
    kind: str
    choices: list[str] | None
    meaning: str


class SettingList(Struct, kw_only=True):
    settings: list[SettingView]


class SettingRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    value: str


class GpuList(Struct, kw_only=True):
    gpus: list[GpuView]
    error: str | None


class StatusView(Struct, kw_only=True):
    controller_pid: int
    agent_pid: int | None
    agent_answers: bool
    version: str
    api: int
    policy: str
    paused: bool
    paused_reason: str | None
    draining: bool
    running: int
    queued: int
    containment: str | None
    containment_reason: str | None
    node: str | None
    home: str
    uptime_s: float
    database_bytes: int
    degraded: str | None
