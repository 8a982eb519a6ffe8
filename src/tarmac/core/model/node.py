"""A machine: its GPUs, what is booked on them, and what was last read from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tarmac.core.model.gpu import Activity, BookedGpu, Drain, Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Request


@dataclass(slots=True, kw_only=True)
class Node:
    """One machine. `booked` may name GPUs that are not in `gpus`: one that vanished in mid-job stays booked."""

    name: NodeName
    cpu_job_slots: int  # how many jobs without GPUs may run at once
    cpus: int = 0  # 0: not known, so not counted
    memory_total_bytes: int = 0
    memory_available_bytes: int | None = None  # as last read; None: not known, so not counted
    read_at: float | None = None  # when the newest reading of its GPUs came in, also one that told nothing new
    gpus: dict[GpuUuid, Gpu] = field(default_factory=dict)  # in index order
    booked: dict[GpuUuid, dict[JobId, BookedGpu]] = field(default_factory=dict)
    booked_parts: dict[GpuUuid, set[tuple[JobId, GpuUuid]]] = field(default_factory=dict)  # the same by parent
    host: dict[JobId, Request] = field(default_factory=dict)  # what running jobs asked of the host
    uses: dict[GpuUuid, GpuUse] = field(default_factory=dict)
    drains: dict[GpuUuid, Drain] = field(default_factory=dict)  # of GPUs that are not here, too
    slots: dict[GpuUuid, int] = field(default_factory=dict)  # how often a GPU is offered; once where not said
    activity: dict[JobId, Activity] = field(default_factory=dict)  # of the jobs that have GPUs here
    taken_bytes: dict[JobId, dict[GpuUuid, int]] = field(default_factory=dict)  # memory of jobs on GPUs, as read
    is_connected: bool = False
    has_told_gpus: bool = False  # until then, that `gpus` is empty says nothing

    def holders(self, gpu: GpuUuid) -> tuple[JobId, ...]:
        return tuple(self.booked.get(gpu, ()))

    def mig_relative_holders(self, gpu: Gpu) -> tuple[JobId, ...]:
        """Of the GPU that it is a part of, or of its parts: MIG may be switched while jobs are on the GPU."""
        if gpu.parent is not None:
            return self.holders(gpu.parent)
        parts = self.booked_parts.get(gpu.uuid)
        return () if parts is None else tuple(sorted({job for job, _ in parts}))

    def index_now(self, gpu: GpuUuid) -> int | None:
        """The number that means this GPU; None where it is not here, or where another one has got its number."""
        known = self.gpus.get(gpu)
        if known is None:
            return None
        rivals = [uuid for uuid, other in self.gpus.items() if other.index == known.index]
        return known.index if min(rivals, key=self._is_sick) == gpu else None

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
