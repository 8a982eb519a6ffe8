"""A job: what its owner asked for, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from tarmac.core.model.gpu import NamedGpu
from tarmac.core.model.ids import JobId
from tarmac.core.model.names import Condition, Tier
from tarmac.core.model.status import Queued, Status

DEFAULT_PRIORITY = 10


TERM = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a job asks of a node. Jobs of one owner with equal requests form a class."""

    gpus: int = 1
    gpu_memory_bytes: int | None = None  # of each GPU; shares the GPUs with others that said so too
    gpu_share: float | None = None  # the same for those who do not know their memory
    gpu_models: tuple[str, ...] = ()  # any of these, in lower case, somewhere in the model's name
    min_gpu_memory_bytes: int = 0  # of the whole GPU
    # A bare number is of a job that was stored when pins were indices: the GPU that has that number now.
    gpus_on: tuple[NamedGpu | int, ...] = ()  # exactly these GPUs
    exclude_gpus: tuple[NamedGpu | int, ...] = ()
    idle_below: int | None = None  # per cent: a GPU others use counts as free while it does less than that
    memory_bytes: int = 0  # of the host
    cpus: int = 0

    @property
    def is_shared(self) -> bool:
        return self.gpu_memory_bytes is not None or self.gpu_share is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """Another job must have ended first: well (ok), not well (fail), or in any way (any)."""

    job: JobId
    on: Condition = "ok"
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
    tier: Tier = "normal"
    time_limit_s: float | None = None
    begin_at: float | None = None
    nice: int = 0  # added to the niceness of its processes
    after: tuple[After, ...] = ()
    max_running: int | None = None  # of its array at once
    index: int | None = None  # its number in the array
    is_adopted: bool = False  # somebody else started it, so it cannot be started again


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
