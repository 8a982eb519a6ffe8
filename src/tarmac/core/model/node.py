"""A machine: its GPUs, what is booked on them, and what was last read from it."""

from __future__ import annotations

from dataclasses import field

from tarmac.core.model.gpu import Activity, BookedGpu, Drain, Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Request
from tarmac.core.model.note import Note
from tarmac.core.model.status import RunName
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDrain:
    """No job starts on the node; running jobs continue. `by` is a person, or None if Tarmac drained it."""

    reason: Note | str | None  # a person's text, or a note by the core
    by: str | None
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickFailure:
    """A job that failed on the node right after its start."""

    owner: str
    at: float
    line: str | None  # that says why


@dataclass(slots=True, kw_only=True)
class Node:
    """One machine. `booked` may name GPUs that are not in `gpus`: a GPU that vanishes during a job stays booked."""

    name: NodeName
    cpu_job_slots: int  # how many jobs without GPUs may run at once
    cpus: int = 0  # 0: unknown, so not enforced
    memory_total_bytes: int = 0
    memory_available_bytes: int | None = None  # as last read; None: unknown, so not enforced
    read_at: float | None = None  # when the newest reading of its GPUs came in, even if nothing changed
    gpus: dict[GpuUuid, Gpu] = field(default_factory=dict)  # in index order
    booked: dict[GpuUuid, dict[JobId, BookedGpu]] = field(default_factory=dict)
    booked_parts: dict[GpuUuid, set[tuple[JobId, GpuUuid]]] = field(
        default_factory=dict
    )  # booked MIG instances by parent
    host: dict[JobId, Request] = field(default_factory=dict)  # host resources that running jobs booked
    uses: dict[GpuUuid, GpuUse] = field(default_factory=dict)
    drains: dict[GpuUuid, Drain] = field(default_factory=dict)  # may include GPUs that are gone
    slots: dict[GpuUuid, int] = field(default_factory=dict)  # jobs that may share each GPU; 1 if missing
    activity: dict[JobId, Activity] = field(default_factory=dict)  # of jobs with GPUs on this node
    taken_bytes: dict[JobId, dict[GpuUuid, int]] = field(
        default_factory=dict
    )  # memory that jobs use on GPUs, as last read
    clocks_run_on: set[RunName] = field(default_factory=set)  # attempts whose time limits would not wait for a pause
    is_connected: bool = False
    drain: NodeDrain | None = None
    is_watch_only: bool = False  # its GPUs are shown, and no job starts there
    has_reported_gpus: bool = False  # until then, `gpus` is empty because nothing is known

    @property
    def takes_jobs(self) -> bool:
        """May a job start there at all?"""
        return self.is_connected and self.drain is None and not self.is_watch_only

    def holders(self, gpu: GpuUuid) -> tuple[JobId, ...]:
        return tuple(self.booked.get(gpu, ()))

    def mig_relative_holders(self, gpu: Gpu) -> tuple[JobId, ...]:
        """Jobs on its MIG parent or instances: MIG may be switched on or off while jobs use the GPU."""
        if gpu.parent is not None:
            return self.holders(gpu.parent)
        parts = self.booked_parts.get(gpu.uuid)
        return () if parts is None else tuple(sorted({job for job, _ in parts}))

    def index_now(self, gpu: GpuUuid) -> int | None:
        """The index of this GPU; None if it is gone or another GPU now has its index."""
        known = self.gpus.get(gpu)
        if known is None:
            return None
        rivals = [uuid for uuid, other in self.gpus.items() if other.index == known.index]
        return known.index if min(rivals, key=self._is_unhealthy) == gpu else None

    def last_index(self, gpu: GpuUuid, before: int) -> int | None:
        """Like `index_now`, but for a GPU that is gone: the index it had, unless another GPU has it now."""
        if gpu in self.gpus:
            return self.index_now(gpu)
        return None if any(other.index == before for other in self.gpus.values()) else before

    def is_gone(self, gpu: GpuUuid) -> bool:
        use = self.uses.get(gpu)
        return use is not None and use.is_gone

    def _is_unhealthy(self, gpu: GpuUuid) -> bool:
        use = self.uses.get(gpu)
        return use is not None and use.health is not None
