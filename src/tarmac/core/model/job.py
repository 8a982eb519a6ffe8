"""A job: what its owner asked for, and its current state."""

from __future__ import annotations

from dataclasses import field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, get_args

from tarmac.core.model.gpu import NamedGpu
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.names import Condition, OnOom, OutputName, RetryKind, Tier
from tarmac.core.model.part import part_path
from tarmac.core.model.snapshot import Snapshot
from tarmac.core.model.status import Booked, MissingPath, Queued, RunName, Status
from tarmac.records import dataclass
from tarmac.shared import names

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_PRIORITY = 10
# The kinds of ends that are retried unless the owner asked for others.
RETRIED: tuple[RetryKind, ...] = tuple(kind for kind in get_args(RetryKind) if kind in names.RETRIED)

TERM = 15


class _HashedOnce:
    """Room for a hash that is computed once. Not a field: it is neither compared nor stored."""

    __slots__ = ("_hash",)

    _hash: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(_HashedOnce):
    """The resources a job needs from a node. Jobs of one owner with equal requests form a class."""

    gpus: int = 1  # on each node
    node_count: int = 1  # how many nodes it runs on at once; all amounts are for each of them
    gpu_memory_bytes: int | None = (
        None  # per GPU; the job shares its GPUs with other jobs that request memory or a share
    )
    gpu_share: float | None = None  # fraction of each GPU, where the memory need is not known
    gpu_models: tuple[str, ...] = ()  # the model name contains one of these; lower case
    min_gpu_memory_bytes: int = 0  # total memory of the GPU
    # A bare number comes from a job stored by an older version, which pinned by index: the GPU with that index now.
    gpus_on: tuple[NamedGpu | int, ...] = ()  # exactly these GPUs
    exclude_gpus: tuple[NamedGpu | int, ...] = ()
    idle_below: int | None = None  # per cent; a GPU with foreign processes counts as free while its load is below this
    memory_bytes: int = 0  # host memory
    cpus: int = 0
    only_nodes: tuple[NodeName, ...] = ()  # empty: on any
    exclude_nodes: tuple[NodeName, ...] = ()
    prefer_nodes: tuple[NodeName, ...] = ()  # tried first, in this order
    nodes_lacking: tuple[NodeName, ...] = ()  # nodes without a file or directory that the job needs; sorted

    def __hash__(self) -> int:
        """A scheduling pass looks requests up hundreds of times."""
        try:
            return self._hash
        except AttributeError:
            known = hash(_values_of_request(self))
            object.__setattr__(self, "_hash", known)
            return known

    def allows(self, node: NodeName) -> bool:
        """May the job run on this node, as far as its owner and its files are concerned?"""
        return node not in self.nodes_lacking and self.is_chosen(node)

    def is_chosen(self, node: NodeName) -> bool:
        """Does its owner allow this node?"""
        return (not self.only_nodes or node in self.only_nodes) and node not in self.exclude_nodes

    @property
    def is_shared(self) -> bool:
        return self.gpu_memory_bytes is not None or self.gpu_share is not None

    @property
    def is_wide(self) -> bool:
        """Does it need more than the next GPU that comes free?"""
        return self.gpus > 1 or self.node_count > 1 or self.is_shared or bool(self.memory_bytes or self.cpus)

    @property
    def total_gpus(self) -> int:
        """On all nodes."""
        return self.gpus * self.node_count


_values_of_request = attrgetter(*(one.name for one in fields(Request)))


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """A job that must end first: successfully (ok), unsuccessfully (fail), or either way (any)."""

    job: JobId
    on: Condition = "ok"
    is_met: bool = False


class OutputTemplate(NamedTuple):
    """An output file as the owner named it, with `{id}`, `{name}` or `{index}`."""

    output: OutputName
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What the owner asked for, frozen at submit."""

    owner: str
    command: tuple[str, ...] | None  # argv, or None when `shell` is given
    shell: str | None
    cwd: str
    umask: int
    environment: str  # hash of the environment; equal environments are stored once
    request: Request
    name: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None  # what people wrote about it
    priority: int = DEFAULT_PRIORITY  # lower goes first
    stdout: str | None = None  # None: a file in the state directory
    stderr: str | None = None  # None: merged into stdout
    output_templates: tuple[OutputTemplate, ...] = ()  # those of its output files that a copy fills in again
    append: bool = False
    fetch: tuple[str, ...] = ()  # copied back from its node at its end, relative to its directory
    grace_s: float = 10.0
    signal: int = TERM  # sent to stop the job; KILL follows after the grace period
    warn: str | None = None  # `USR1@120`: a signal that warns it before its time limit; see shared.end_warning
    tier: Tier = "normal"
    time_limit_s: float | None = None
    begin_at: float | None = None
    fill: bool = False  # its command has placeholders
    venv: str | None = None  # directory of the virtual environment that is activated
    conda: str | None = None  # prefix of the conda environment; its name, if no node could say where it is
    nice: int = 0  # added to the niceness of its processes
    retries: int = 0  # how often it is run again after an attempt failed
    retry_on: tuple[RetryKind, ...] = RETRIED  # after which ends
    retry_delay_s: float | None = None  # before the first retry; doubled for each further one
    on_oom: OnOom | None = None  # None: as retry_on says
    requeue: bool = False  # after its time limit, until it ends by itself
    after: tuple[After, ...] = ()
    max_running: int | None = None  # jobs of the group that may run at once
    params: tuple[tuple[str, str], ...] = ()  # of a sweep: the names and values that it was made of
    notify: tuple[str, ...] = ()  # names of targets
    notify_on: tuple[str, ...] = ()  # the events that they get
    snapshot: Snapshot | None = None  # the code it runs; None: what is in its directory when it starts
    missing: tuple[MissingPath, ...] = ()  # why its request avoids nodes; sorted by node
    origins: tuple[tuple[str, str], ...] = ()  # where options came from that the owner did not give
    clone_of: JobId | None = None  # the job that it is a copy of
    rerun_of: JobId | None = None  # the job that it repeats
    is_adopted: bool = False  # Tarmac did not start it and cannot start it again

    @property
    def can_run_again(self) -> bool:
        """False for an adopted process, and for an attempt that was taken in from a node, which has no environment."""
        return not self.is_adopted and bool(self.environment)

    def with_missing(self, missing: Iterable[MissingPath]) -> JobSpec:
        """Avoid these nodes, and no others. Jobs that avoid the same nodes for different reasons form one class."""
        known = tuple(sorted({one.node: one for one in missing}.values()))
        nodes = tuple(one.node for one in known)
        if known == self.missing and nodes == self.request.nodes_lacking:
            return self
        return replace(self, missing=known, request=replace(self.request, nodes_lacking=nodes))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The output files that the owner chose, and those that follow from them for a job on several nodes."""
        chosen = tuple(path for path in (self.stdout, self.stderr) if path is not None)
        if self.request.node_count == 1 or not chosen:
            return chosen
        return tuple(dict.fromkeys(part_path(path, part) for part in range(self.request.node_count) for path in chosen))


@dataclass(slots=True, kw_only=True)
class Job:
    id: JobId
    spec: JobSpec
    submitted_at: float
    position: float  # order among equal priorities; initially the id, hence submit order
    attempt: int = 0  # number of the latest attempt; 0: none yet
    status: Status = field(default_factory=Queued)
    group: JobId | None = None  # the first job of its array, sweep or batch
    index: int | None = None  # its index in an array; the jobs of an array share one spec
    retried: int = 0  # automatic retries so far, since it was submitted or retried by hand
    ooms: int = 0  # attempts that ran out of memory

    @property
    def rank(self) -> tuple[int, float]:
        return (self.spec.priority, self.position)

    @property
    def is_moved(self) -> bool:
        """A user, or a stop of the queue, gave it another place than its submit did."""
        return self.position != self.id

    @property
    def waits_since(self) -> float:
        """Since when it may start, for a job that waits."""
        since = self.submitted_at
        if isinstance(self.status, Queued) and self.status.since is not None:
            since = self.status.since
        return max(since, self.not_before or since)

    @property
    def not_before(self) -> float | None:
        """It does not start earlier, because its owner said so or because it waits between two attempts."""
        begin_at = self.spec.begin_at
        retry_at = self.status.retry_at if isinstance(self.status, Queued) else None
        if begin_at is None or retry_at is None:
            return begin_at if retry_at is None else retry_at
        return max(begin_at, retry_at)

    @property
    def run(self) -> RunName:
        """The node's name for the latest attempt."""
        renamed = self.status.booking.run if isinstance(self.status, Booked) else None
        return renamed or RunName(self.id, self.attempt)
