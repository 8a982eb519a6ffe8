"""The live state and the bookkeeping that keeps its parts in step. Changed only by `machine.handle`.

Ended jobs leave it: the store remembers them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tarmac.core.model import Job, JobId, Node, NodeName, Queued, Rules, holds_booking, is_ended
from tarmac.core.queue import Queue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model import Booking, Drain, GpuUuid, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryLine:
    """One thing that happened to a job, as it will be told to its owner."""

    job: JobId
    attempt: int
    at: float
    kind: str
    detail: dict[str, Any]


@dataclass(slots=True)
class Changes:
    """What one or more events changed since it was last taken; the store writes exactly this."""

    new: list[Job] = field(default_factory=list)
    changed: dict[JobId, Job] = field(default_factory=dict)  # includes those that ended
    cards: dict[tuple[NodeName, GpuUuid], tuple[Drain | None, int]] = field(default_factory=dict)  # drain, slots
    story: list[StoryLine] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.cards or self.story)


@dataclass(slots=True)
class State:
    jobs: dict[JobId, Job] = field(default_factory=dict)
    nodes: dict[NodeName, Node] = field(default_factory=dict)
    queue: Queue = field(default_factory=Queue)
    rules: Rules = field(default_factory=Rules)
    next_id: int = 1
    changes: Changes = field(default_factory=Changes)

    def take_changes(self) -> Changes:
        taken, self.changes = self.changes, Changes()
        return taken

    def node(self, name: NodeName) -> Node:
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = Node(name=name, cpu_job_slots=0)
        return node

    def load(self, jobs: Iterable[Job], *, next_id: int) -> None:
        """Take over what the store remembers of the jobs that have not ended."""
        waiting = []
        for job in jobs:
            self.jobs[job.id] = job
            if isinstance(job.status, Queued):
                waiting.append(job)
            elif (booking := holds_booking(job.status)) is not None:
                self._book(job.id, booking)
        self.queue.add_many(waiting)
        self.next_id = max(self.next_id, next_id)

    def load_card(self, node: NodeName, gpu: GpuUuid, drain: Drain | None, slots: int) -> None:
        if drain is not None:
            self.node(node).drains[gpu] = drain
        if slots != 1:
            self.node(node).slots[gpu] = slots

    def set_drain(self, node: Node, gpu: GpuUuid, drain: Drain | None) -> None:
        if drain is None:
            node.drains.pop(gpu, None)
        else:
            node.drains[gpu] = drain
        self.changes.cards[node.name, gpu] = (drain, node.slots.get(gpu, 1))

    def set_slots(self, node: Node, gpu: GpuUuid, slots: int) -> None:
        node.slots[gpu] = slots
        self.changes.cards[node.name, gpu] = (node.drains.get(gpu), slots)

    def forget_card(self, node: Node, gpu: GpuUuid) -> None:
        """All that was said and read of it. One that a job holds is not forgotten: that is for the asker to refuse."""
        node.gpus.pop(gpu, None)
        node.uses.pop(gpu, None)
        node.slots.pop(gpu, None)
        self.set_drain(node, gpu, None)

    def enter(self, job: Job, status: Status) -> None:
        """Put a job into another state; queue, bookings and the list of live jobs follow."""
        was_queued, had = isinstance(job.status, Queued), holds_booking(job.status)
        if was_queued:
            self.queue.remove(job)
        job.status = status
        has = holds_booking(status)
        if had is not None and had != has:
            self._release(job.id, had)
        if has is not None and had != has:
            self._book(job.id, has)
        if is_ended(status):
            del self.jobs[job.id]
        self.changes.changed[job.id] = job

    def _book(self, job: JobId, booking: Booking) -> None:
        node = self.node(booking.node)
        node.host[job] = self.jobs[job].spec.request
        for gpu in booking.gpus:
            node.booked.setdefault(gpu.uuid, {})[job] = gpu
            if gpu.parent is not None:
                node.booked_parts.setdefault(gpu.parent, set()).add((job, gpu.uuid))

    def _release(self, job: JobId, booking: Booking) -> None:
        node = self.node(booking.node)
        node.host.pop(job, None)
        node.activity.pop(job, None)
        node.taken_bytes.pop(job, None)
        for gpu in booking.gpus:
            held = node.booked.get(gpu.uuid, {})
            held.pop(job, None)
            if not held:
                node.booked.pop(gpu.uuid, None)
            if gpu.parent is not None:
                parts = node.booked_parts.get(gpu.parent, set())
                parts.discard((job, gpu.uuid))
                if not parts:
                    node.booked_parts.pop(gpu.parent, None)
