"""Nodes, their GPUs, and what was measured there."""

from __future__ import annotations

from tarmac.core.events.of_attempts import RunReport
from tarmac.core.model.gpu import BookedGpu, Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import JobSpec
from tarmac.core.model.plan import EndByProgress
from tarmac.core.model.status import RunName
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrigin:
    """The job and the booking of an attempt, from the node's own record of it."""

    run: RunName
    submitted_at: float  # identifies the job together with its id
    spec: JobSpec
    gpus: tuple[BookedGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeJoined:
    """A node connected, for the first time or again, and reports the attempts it runs."""

    node: NodeName
    cpu_job_slots: int
    runs: tuple[RunReport, ...]
    cpus: int = 0
    memory_total_bytes: int = 0
    origins: tuple[RunOrigin, ...] = ()  # of the attempts in `runs`; those of older agents have none
    guesses: tuple[RunOrigin, ...] = ()  # from processes, where the record is lost; their submit times are not known
    ended: frozenset[RunName] = frozenset()  # attempts in `runs` that no live job has and whose end is stored
    free_ids: frozenset[JobId] = frozenset()  # ids in `runs` that this database never gave to a job


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLeft:
    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAdded:
    """A node is configured, or its configuration changed. It need not have joined."""

    node: NodeName
    is_watch_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesDrained:
    nodes: tuple[NodeName, ...]
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesResumed:
    nodes: tuple[NodeName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRemoved:
    """Drop a node from the state. Ignored while a job holds anything there."""

    node: NodeName


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeForgotten:
    """A person knows that the node is gone for good, with every process on it. Ignored while it is connected."""

    node: NodeName
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusSeen:
    """All GPUs of a node, in index order."""

    node: NodeName
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSampled:
    """A reading of GPUs and host. Sent for every reading, even when nothing changed."""

    node: NodeName
    uses: tuple[tuple[GpuUuid, GpuUse], ...]
    taken: tuple[tuple[JobId, GpuUuid, int], ...] = ()  # memory that jobs use on GPUs
    memory_available_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressSeen:
    """Running jobs print other progress than before. It shapes plans; no promise rests on it."""

    ends: tuple[EndByProgress, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusDrained:
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusResumed:
    node: NodeName
    gpus: tuple[GpuUuid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusForgotten:
    """No longer wait for GPUs that are gone. The caller guarantees that no job holds one."""

    node: NodeName
    gpus: tuple[GpuUuid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsSet:
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    slots: int
