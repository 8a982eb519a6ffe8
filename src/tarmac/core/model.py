"""What the scheduler knows: jobs, what each state of a job carries, nodes and their GPUs.

A status carries only what is valid in it; nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NewType, TypeAlias

JobId = NewType("JobId", int)
NodeName = NewType("NodeName", str)
GpuUuid = NewType("GpuUuid", str)

DEFAULT_PRIORITY = 10
TERM = 15
TIERS = ("urgent", "normal", "preemptible")  # the first goes first; the last may be asked to leave
POLICIES = ("fifo", "balance", "fairshare")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGpu:
    """A card that a job is pinned to or kept off. It is the UUID that counts, whatever a driver numbers it later."""

    uuid: GpuUuid
    index: int = field(compare=False)  # as it was at submit, for words about a card that is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a job asks of a node. Jobs of one owner with equal requests form a class."""

    gpus: int = 1
    gpu_memory_bytes: int | None = None  # of each card; shares the cards with others that said so too
    gpu_share: float | None = None  # the same for those who do not know their memory
    gpu_models: tuple[str, ...] = ()  # any of these, in lower case, somewhere in the model's name
    min_gpu_memory_bytes: int = 0  # of the whole card
    # A bare number is of a job that was stored when pins were indices: the card that has that number now.
    gpus_on: tuple[NamedGpu | int, ...] = ()  # exactly these cards
    exclude_gpus: tuple[NamedGpu | int, ...] = ()
    idle_below: int | None = None  # per cent: a card others use counts as free while it does less than that
    memory_bytes: int = 0  # of the host
    cpus: int = 0

    @property
    def is_shared(self) -> bool:
        return self.gpu_memory_bytes is not None or self.gpu_share is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """Another job must have ended first: well (ok), not well (fail), or in any way (any)."""

    job: JobId
    on: str = "ok"
    is_met: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What the owner asked for, frozen at submit."""

    owner: str
    command: tuple[str, ...] | None  # argv, or None when `shell` is given
    shell: str | None
    cwd: str
    umask: int
    environment: str  # hash of the environment, which is stored once
    request: Request
    name: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = DEFAULT_PRIORITY  # smaller first
    stdout: str | None = None  # None: a file in the state folder
    stderr: str | None = None  # None: merged into stdout
    append: bool = False
    grace_s: float = 10.0
    signal: int = TERM  # asks it to stop; KILL follows after its grace
    tier: str = "normal"
    time_limit_s: float | None = None
    begin_at: float | None = None
    after: tuple[After, ...] = ()
    max_running: int | None = None  # of its array at once
    index: int | None = None  # its number in the array
    is_adopted: bool = False  # somebody else started it, so it cannot be started again


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One card as it is booked. Readings (memory in use, load) are not part of it."""

    uuid: GpuUuid
    index: int
    model: str = ""
    memory_total_bytes: int = 0
    links: tuple[tuple[GpuUuid, int], ...] = ()  # how near other cards are, nearer is higher
    parent: GpuUuid | None = None  # of a MIG instance: the card that it is a part of


@dataclass(frozen=True, slots=True, kw_only=True)
class Outsider:
    """A process on a card that belongs to no job there: nobody's, or of a job that did not book this card."""

    pid: int
    user: str | None = None
    command: str | None = None
    started_at: float | None = None
    job: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUse:
    """What a card does that Tarmac did not book, as last read."""

    outside_bytes: int = 0  # memory of processes that belong to no job there
    outsiders: tuple[Outsider, ...] = ()
    load: float | None = None  # fraction; of everything on the card
    health: str | None = None  # why the card is sick; None: it is not
    is_gone: bool = False  # the driver does not tell of it any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Since when the cards of a job do nothing, or too much, and whether that has been said."""

    idle_since: float | None = None
    is_warned: bool = False
    over_since: float | None = None  # takes more than it booked
    is_over_booking: bool = False  # and that for long enough to be marked
    over_told_at: float | None = None  # its owner was warned of that


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Nothing new is placed on the card. `by` is a person, or None where Tarmac saw it sick."""

    reason: str
    by: str | None
    since: float
    healthy_since: float | None = None  # a sick card that answers well again


@dataclass(frozen=True, slots=True)
class PerName:
    """One number for everybody, and others for some."""

    default: float
    of: tuple[tuple[str, float], ...] = ()

    def __call__(self, name: str | None) -> float:
        return next((number for known, number in self.of if known == name), self.default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The settings that decide. Fractions of a whole card or host; a limit of 0 is none."""

    policy: str = "balance"
    shares: PerName = PerName(1.0)
    half_life_s: float = 7 * 86400.0  # after which GPU-hours count half, for fairshare
    is_backfilling: bool = True
    starvation_s: float = 3600.0  # GPUs are kept back for a wide job that waits longer, where no end is known
    max_gpus_per_user: PerName = PerName(0.0)  # running at once
    max_gpus_per_project: PerName = PerName(0.0)
    max_queued_per_user: PerName = PerName(0.0)  # jobs that wait
    max_queued_per_project: PerName = PerName(0.0)
    gpu_hours_per_user: PerName = PerName(0.0)  # within the last seven days
    gpu_hours_per_project: PerName = PerName(0.0)
    max_gpus_per_job: int = 0
    max_queued: int = 0
    no_show_s: float = 900.0  # a reservation that nobody came for is released
    reserve_ahead_s: float = 86400.0  # this long before one begins, jobs without a known end keep off its cards
    pause_after_failures: int = 10  # jobs in a row that failed within fail_fast_s
    fail_fast_s: float = 10.0

    max_memory: float = 0.1  # outside use of a card up to here does not keep a job off it
    max_load: float = 0.1
    keep_gpu_memory: float = 0.0  # of each card, never booked by jobs that share it
    keep_host_memory: float = 0.2  # nothing starts while less than this is available
    max_cpu_jobs: int = 0  # jobs without GPUs at once on a node; 0: as many as it offers itself
    healthy_s: float = 300.0  # a card that was sick comes back after it was well for this long
    idle_load: float = 0.05  # a job whose cards all do less than this is idle
    idle_warn_s: float = 1800.0
    idle_stop_s: float = 7200.0
    idle_action: str = "none"  # none, warn or stop
    overbooked_action: str = "warn"  # none, warn or stop: a job that takes more of a shared card than it booked
    overbooked_s: float = 30.0  # so long it may; it is stopped so much later again at the earliest


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedGpu:
    uuid: GpuUuid
    index: int
    memory_bytes: int = 0  # 0: the whole card
    part: float = 1.0  # of the card, for limits and shares
    is_forced: bool = False  # a person put it there beside whatever else holds the card
    parent: GpuUuid | None = None  # kept here too: an instance may vanish while it is booked


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The node and cards an attempt has from its decision until its process tree is gone."""

    node: NodeName
    gpus: tuple[BookedGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """Waits for GPUs, its turn, its dependencies or its time."""

    since: float | None = None  # None: since it was submitted
    note: str | None = None  # why it is here again


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Waits for a person to release it."""

    by: str
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Kept, not to be scheduled yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Decided and booked; the node has not reported it running yet."""

    booking: Booking
    decided_at: float
    adopted_pid: int | None = None  # it runs already; the node only has to watch it


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    booking: Booking
    pid: int
    started_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Asked to stop; keeps its booking until the whole tree is gone."""

    booking: Booking
    pid: int | None
    started_at: float | None  # None: asked before the node reported a start
    asked_at: float
    grace_s: float
    requeue: str | None = None  # why it goes back to its place in the queue; None: it is to end
    for_job: JobId | None = None  # whom it makes room for


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Nobody can say how it went. It is never started again by itself."""

    booking: Booking
    pid: int | None
    started_at: float | None
    ended_at: float | None  # None while processes of it are left, which keep the booking
    message: str
    stop_grace_s: float | None = None  # its owner wants what is left of it to end


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    booking: Booking
    pid: int | None
    started_at: float
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """`reason` is one of the words of the glossary: exit, signal, timeout, launch, dependency."""

    booking: Booking | None  # None: it never had one
    pid: int | None
    started_at: float | None
    ended_at: float
    reason: str
    exit_code: int | None = None
    signal: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Ended by a person, before or while it ran."""

    booking: Booking | None
    pid: int | None
    started_at: float | None
    ended_at: float
    exit_code: int | None = None
    signal: int | None = None


Status: TypeAlias = Queued | Held | Draft | Starting | Running | Stopping | Unknown | Succeeded | Failed | Cancelled
Booked: TypeAlias = Starting | Running | Stopping | Unknown

STATUS_TYPES: dict[str, type[Status]] = {
    kind.__name__.lower(): kind
    for kind in (Queued, Held, Draft, Starting, Running, Stopping, Unknown, Succeeded, Failed, Cancelled)
}


def state_name(status: Status) -> str:
    return type(status).__name__.lower()


def is_ended(status: Status) -> bool:
    match status:
        case Succeeded() | Failed() | Cancelled():
            return True
        case Unknown(ended_at=ended_at):
            return ended_at is not None
        case _:
            return False


def holds_booking(status: Status) -> Booking | None:
    """The booking that counts against the node right now."""
    match status:
        case Starting() | Running() | Stopping():
            return status.booking
        case Unknown(ended_at=None):
            return status.booking
        case _:
            return None


@dataclass(slots=True, kw_only=True)
class Job:
    id: JobId
    spec: JobSpec
    submitted_at: float
    position: float  # place in the queue among equal priorities; ids at first, so submit order
    attempt: int = 0  # how often it was decided to start; 0 while it never was
    status: Status = field(default_factory=Queued)
    group: JobId | None = None  # the first of the array it belongs to

    @property
    def rank(self) -> tuple[int, float]:
        return (self.spec.priority, self.position)


@dataclass(slots=True, kw_only=True)
class Node:
    """One machine. `booked` may name cards that are not in `gpus`: one that vanished in mid-job stays booked."""

    name: NodeName
    cpu_job_slots: int  # how many jobs without GPUs may run at once
    cpus: int = 0  # 0: not known, so not counted
    memory_total_bytes: int = 0
    memory_available_bytes: int | None = None  # as last read; None: not known, so not counted
    read_at: float | None = None  # when the newest reading of its cards came in, also one that told nothing new
    gpus: dict[GpuUuid, Gpu] = field(default_factory=dict)  # in index order
    booked: dict[GpuUuid, dict[JobId, BookedGpu]] = field(default_factory=dict)
    booked_parts: dict[GpuUuid, set[tuple[JobId, GpuUuid]]] = field(default_factory=dict)  # the same by parent
    host: dict[JobId, Request] = field(default_factory=dict)  # what running jobs asked of the host
    uses: dict[GpuUuid, GpuUse] = field(default_factory=dict)
    drains: dict[GpuUuid, Drain] = field(default_factory=dict)  # of cards that are not here, too
    slots: dict[GpuUuid, int] = field(default_factory=dict)  # how often a card is offered; once where not said
    activity: dict[JobId, Activity] = field(default_factory=dict)  # of the jobs that have cards here
    taken_bytes: dict[JobId, dict[GpuUuid, int]] = field(default_factory=dict)  # memory of jobs on cards, as read
    is_connected: bool = False
    has_told_gpus: bool = False  # until then, that `gpus` is empty says nothing

    def holders(self, gpu: GpuUuid) -> tuple[JobId, ...]:
        return tuple(self.booked.get(gpu, ()))

    def holders_of_kin(self, gpu: Gpu) -> tuple[JobId, ...]:
        """Of the card that it is a part of, or of its parts: MIG may be switched while jobs are on the card."""
        if gpu.parent is not None:
            return self.holders(gpu.parent)
        parts = self.booked_parts.get(gpu.uuid)
        return () if parts is None else tuple(sorted({job for job, _ in parts}))

    def index_now(self, gpu: GpuUuid) -> int | None:
        """The number that means this card; None where it is not here, or where another one has got its number."""
        card = self.gpus.get(gpu)
        if card is None:
            return None
        rivals = [uuid for uuid, other in self.gpus.items() if other.index == card.index]
        return card.index if min(rivals, key=self._is_sick) == gpu else None

    def last_index(self, gpu: GpuUuid, before: int) -> int | None:
        """The same; of one that is not here, the number it had before, unless that is another's now."""
        if gpu in self.gpus:
            return self.index_now(gpu)
        return None if any(other.index == before for other in self.gpus.values()) else before

    def is_gone(self, gpu: GpuUuid) -> bool:
        use = self.uses.get(gpu)
        return use is not None and use.is_gone

    def _is_sick(self, gpu: GpuUuid) -> bool:
        use = self.uses.get(gpu)
        return use is not None and use.health is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Cards that are kept for somebody's jobs for a while."""

    id: int
    owner: str  # whose jobs may use them
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    begins_at: float
    ends_at: float
    by: str
    is_used: bool = False  # a job of its owner was there since it began


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """How the queue as a whole is. Paused: nothing starts. Draining: nothing new is accepted."""

    is_paused: bool = False
    is_draining: bool = False
    by: str | None = None  # None: Tarmac itself
    reason: str | None = None
    since: float | None = None
