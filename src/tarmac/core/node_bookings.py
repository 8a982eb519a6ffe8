"""Nodes, their GPUs, and what jobs have booked there."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from tarmac.core.changes import Changes, GpuSettings, HourKey, Release
from tarmac.core.fit.fit_cache import FitCache
from tarmac.core.indexes import Indexes
from tarmac.core.ledger import Ledger
from tarmac.core.model.ids import NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import (
    Running,
    Starting,
    Stopping,
    Unknown,
)
from tarmac.core.runtimes import Runtimes
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.gpu import BookedGpu, Drain
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.node import NodeDrain
    from tarmac.core.model.status import Booking, Status


@dataclass(slots=True)
class NodeBookings(Indexes):
    """Nodes, and what must follow when a booking begins or ends: indexes, accounts and expected ends."""

    nodes: dict[NodeName, Node] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    ledger: Ledger = field(default_factory=Ledger)
    runtimes: Runtimes = field(default_factory=Runtimes)
    fit_cache: FitCache = field(default_factory=FitCache)
    now: float = 0.0  # time of the last event
    changes: Changes = field(default_factory=Changes)

    def node(self, name: NodeName) -> Node:
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = Node(name=name, cpu_job_slots=0)
        return node

    def touch(self, node: Node) -> None:
        """Note that something placement depends on changed on the node."""
        self.fit_cache.touch(node.name)

    def set_drain(self, node: Node, gpu: GpuUuid, drain: Drain | None) -> None:
        if drain is None:
            node.drains.pop(gpu, None)
        else:
            node.drains[gpu] = drain
        self.touch(node)
        self.changes.gpus[node.name, gpu] = GpuSettings(drain, node.slots.get(gpu, 1))

    def add_node(self, name: NodeName, *, is_watch_only: bool) -> None:
        """Know a node before it joins, or change what is known of it."""
        node = self.node(name)
        node.is_watch_only = is_watch_only
        self.touch(node)

    def set_node_drain(self, node: Node, drain: NodeDrain | None) -> None:
        node.drain = drain
        self.touch(node)
        self.changes.node_drains[node.name] = drain

    def set_slots(self, node: Node, gpu: GpuUuid, slots: int) -> None:
        node.slots[gpu] = slots
        self.touch(node)
        self.changes.gpus[node.name, gpu] = GpuSettings(node.drains.get(gpu), slots)

    def forget_gpu(self, node: Node, gpu: GpuUuid) -> None:
        """Drop everything known about a GPU. The caller guarantees that no job holds it."""
        node.gpus.pop(gpu, None)
        node.uses.pop(gpu, None)
        node.slots.pop(gpu, None)
        self.set_drain(node, gpu, None)

    def book(self, job: Job, booking: Booking, since: float) -> None:
        if booking.run is not None:
            self.renamed[booking.node, booking.run] = job.id
        for place in booking.held:
            self._hold(job, self.node(place.node), place.gpus)
        self.runtimes.forget_attempt(job.id)
        self.runtimes.expect(job)
        self.ledger.begin(job, booking, since, self.now, self.rules.half_life_s)
        self.add_booked(job)

    def release(self, job: Job, booking: Booking, paused_s: float) -> None:
        if booking.run is not None:
            del self.renamed[booking.node, booking.run]
        for place in booking.held:
            self.let_go(job, self.node(place.node), place.gpus)
        self.runtimes.forget_attempt(job.id)
        use = self.ledger.running[job.id]
        self.changes.releases.append(
            Release(job.id, job.attempt, use.owner, use.project, booking, use.since, self.now, paused_s)
        )
        for row in self.ledger.end(job.id, self.now, self.rules.half_life_s):
            key = HourKey(row.hour, row.owner, row.project)
            self.changes.hours[key] = self.changes.hours.get(key, 0.0) + row.gpu_s
        self.remove_booked(job)

    def _hold(self, job: Job, node: Node, gpus: tuple[BookedGpu, ...]) -> None:
        node.host[job.id] = job.spec.request
        for gpu in gpus:
            node.booked.setdefault(gpu.uuid, {})[job.id] = gpu
            if gpu.parent is not None:
                node.booked_parts.setdefault(gpu.parent, set()).add((job.id, gpu.uuid))
        self.touch(node)

    def let_go(self, job: Job, node: Node, gpus: tuple[BookedGpu, ...]) -> None:
        """Release what a job has on one node."""
        node.host.pop(job.id, None)
        node.activity.pop(job.id, None)
        node.taken_bytes.pop(job.id, None)
        for gpu in gpus:
            holders = node.booked.get(gpu.uuid, {})
            holders.pop(job.id, None)
            if not holders:
                node.booked.pop(gpu.uuid, None)
            if gpu.parent is not None:
                parts = node.booked_parts.get(gpu.parent, set())
                parts.discard((job.id, gpu.uuid))
                if not parts:
                    node.booked_parts.pop(gpu.parent, None)
        self.touch(node)


def booked_since(status: Status, now: float) -> float:
    """When an attempt got its GPUs, as far as its status tells."""
    match status:
        case Starting():
            return status.decided_at
        case Running():
            return status.started_at
        case Stopping() | Unknown():
            return now if status.started_at is None else status.started_at
        case _:
            return now
