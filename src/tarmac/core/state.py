"""The live state and the bookkeeping that keeps its parts in step. Changed only by `machine.handle`.

Ended jobs leave it: the store remembers them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappush
from itertools import islice
from typing import TYPE_CHECKING, Any

from tarmac.core.forecast.runtimes import Durations
from tarmac.core.ledger import Ledger
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.node import Node
from tarmac.core.model.queue import Mode
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import (
    Held,
    Queued,
    Running,
    Starting,
    Stopping,
    Succeeded,
    Unknown,
    holds_booking,
    is_ended,
)
from tarmac.core.policy.fit_cache import Room
from tarmac.core.queue import Queue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.ledger import HourRow
    from tarmac.core.model.gpu import Drain
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.names import Outcome
    from tarmac.core.model.queue import Reservation
    from tarmac.core.model.status import Booking, Status

MOST_OUTCOMES = 4096


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
    gpus: dict[tuple[NodeName, GpuUuid], tuple[Drain | None, int]] = field(default_factory=dict)  # drain, slots
    story: list[StoryLine] = field(default_factory=list)
    edited: set[JobId] = field(default_factory=set)  # of those changed: what they ask for is different, too
    reservations: dict[int, Reservation | None] = field(default_factory=dict)  # None: it is over
    mode: Mode | None = None
    hours: dict[tuple[int, str, str], float] = field(default_factory=dict)  # hour, owner, project: GPU-seconds more

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gpus or self.story or self.reservations or self.mode or self.hours)


@dataclass(slots=True)
class Lines:
    """How many jobs wait, for limits. Drafts do not."""

    total: int = 0
    of_owner: Counter[str] = field(default_factory=Counter)
    of_project: Counter[str] = field(default_factory=Counter)

    def count(self, spec: JobSpec, step: int) -> None:
        self.total += step
        self.of_owner[spec.owner] += step
        if spec.project is not None:
            self.of_project[spec.project] += step


@dataclass(slots=True)
class State:
    jobs: dict[JobId, Job] = field(default_factory=dict)
    nodes: dict[NodeName, Node] = field(default_factory=dict)
    queue: Queue = field(default_factory=Queue)
    lines: Lines = field(default_factory=Lines)
    blocked: dict[JobId, Job] = field(default_factory=dict)  # queued, but another job or their time must come first
    dependents: dict[JobId, set[JobId]] = field(default_factory=dict)  # who waits for a job to end
    timers: list[tuple[float, JobId]] = field(default_factory=list)  # a heap of begins; some may be stale
    passed_since: dict[JobId, float] = field(default_factory=dict)  # their turn came then, and they did not fit
    groups: dict[JobId, set[JobId]] = field(default_factory=dict)  # which jobs of an array have their booking
    preemptible: set[JobId] = field(default_factory=set)  # run, and may be asked to leave
    leaving: set[JobId] = field(default_factory=set)  # were asked to stop, and are not gone yet
    outcomes: dict[JobId, Outcome] = field(default_factory=dict)  # how the last jobs ended: ok or fail
    settled: list[JobId] = field(default_factory=list)  # ended just now; who waits for them is yet to be told
    failures: list[JobId] = field(default_factory=list)  # in a row, each soon after its start
    reservations: dict[int, Reservation] = field(default_factory=dict)
    mode: Mode = field(default_factory=Mode)
    rules: Rules = field(default_factory=Rules)
    ledger: Ledger = field(default_factory=Ledger)
    durations: Durations = field(default_factory=Durations)
    room: Room = field(default_factory=Room)
    next_id: int = 1
    next_reservation: int = 1
    now: float = 0.0  # of the event that was handled last
    changes: Changes = field(default_factory=Changes)

    def take_changes(self) -> Changes:
        taken, self.changes = self.changes, Changes()
        return taken

    def node(self, name: NodeName) -> Node:
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = Node(name=name, cpu_job_slots=0)
        return node

    # What the store remembers

    def load(self, jobs: Iterable[Job], *, next_id: int, now: float = 0.0) -> None:
        """Take over what the store remembers of the jobs that have not ended."""
        self.now = now
        waiting = []
        for job in jobs:
            self.jobs[job.id] = job
            self._remember_dependencies(job)
            if isinstance(job.status, Queued | Held):
                self.lines.count(job.spec, 1)
            if isinstance(job.status, Queued):
                waiting.append(job)
            elif (booking := holds_booking(job.status)) is not None:
                self._book(job, booking, _since(job.status, now))
        self.enlist(waiting)
        self.next_id = max(self.next_id, next_id)

    def load_gpu(self, node: NodeName, gpu: GpuUuid, drain: Drain | None, slots: int) -> None:
        if drain is not None:
            self.node(node).drains[gpu] = drain
        if slots != 1:
            self.node(node).slots[gpu] = slots

    def load_mode(self, mode: Mode) -> None:
        self.mode = mode

    def load_reservation(self, reservation: Reservation) -> None:
        self.reservations[reservation.id] = reservation
        self.next_reservation = max(self.next_reservation, reservation.id + 1)

    def load_hours(self, rows: Iterable[HourRow], now: float) -> None:
        self.ledger.add(rows)
        self.ledger.fade_anew(now, self.rules.half_life_s)

    def load_durations(self, newest_first: Iterable[Job]) -> None:
        self.durations.learn_all(newest_first)

    # Nodes, GPUs and the queue as a whole

    def touch(self, node: Node) -> None:
        self.room.touch(node.name)

    def set_drain(self, node: Node, gpu: GpuUuid, drain: Drain | None) -> None:
        if drain is None:
            node.drains.pop(gpu, None)
        else:
            node.drains[gpu] = drain
        self.touch(node)
        self.changes.gpus[node.name, gpu] = (drain, node.slots.get(gpu, 1))

    def set_slots(self, node: Node, gpu: GpuUuid, slots: int) -> None:
        node.slots[gpu] = slots
        self.touch(node)
        self.changes.gpus[node.name, gpu] = (node.drains.get(gpu), slots)

    def forget_gpu(self, node: Node, gpu: GpuUuid) -> None:
        """All that was said and read of it. One that a job holds is not forgotten: that is for the asker to refuse."""
        node.gpus.pop(gpu, None)
        node.uses.pop(gpu, None)
        node.slots.pop(gpu, None)
        self.set_drain(node, gpu, None)

    def set_rules(self, rules: Rules) -> None:
        has_other_half_life = rules.half_life_s != self.rules.half_life_s
        self.rules = rules
        self.room.forget()
        if has_other_half_life:
            self.ledger.fade_anew(self.now, rules.half_life_s)

    def set_mode(self, mode: Mode) -> None:
        self.mode = self.changes.mode = mode

    def set_reservation(self, number: int, reservation: Reservation | None) -> None:
        if reservation is None:
            self.reservations.pop(number, None)
        else:
            self.reservations[number] = reservation
        self.changes.reservations[number] = reservation

    # Jobs

    def enter(self, job: Job, status: Status) -> None:
        """Put a job into another state; queue, bookings and the list of live jobs follow."""
        was_queued, had = isinstance(job.status, Queued), holds_booking(job.status)
        if was_queued:
            self._delist(job)
        if isinstance(job.status, Queued | Held) != isinstance(status, Queued | Held):
            self.lines.count(job.spec, 1 if isinstance(status, Queued | Held) else -1)
        job.status = status
        has = holds_booking(status)
        if had is not None and had != has:
            self._release(job, had)
        if has is not None and had != has:
            self._book(job, has, self.now)
        elif has is not None:
            self._sort_by_leave(job)
            self.room.touch(has.node)  # when it ends may be known better now
        if isinstance(status, Queued):
            self.enlist([job])
        elif is_ended(status):
            self._leave(job)
        self.changes.changed[job.id] = job

    def edit(self, job: Job, spec: JobSpec) -> None:
        """A waiting job asks for something else."""
        is_queued = isinstance(job.status, Queued)
        if is_queued:
            self._delist(job)
        self._forget_dependencies(job)
        if isinstance(job.status, Queued | Held):
            self.lines.count(job.spec, -1)
            self.lines.count(spec, 1)
        job.spec = spec
        self._remember_dependencies(job)
        if is_queued:
            self.enlist([job])
        self.changes.changed[job.id] = job
        self.changes.edited.add(job.id)

    def put(self, job: Job, position: float) -> None:
        """To another place among those of its priority."""
        is_queued = isinstance(job.status, Queued)
        if is_queued:
            self._delist(job)
        job.position = position
        if is_queued:
            self.enlist([job])
        self.changes.changed[job.id] = job

    def enlist(self, jobs: list[Job]) -> None:
        """Into the queue, or aside where something else than GPUs must come first."""
        ready = []
        for job in jobs:
            spec = job.spec
            if spec.begin_at is not None and spec.begin_at > self.now:
                heappush(self.timers, (spec.begin_at, job.id))
                self.blocked[job.id] = job
            elif any(not after.is_met for after in spec.after):
                self.blocked[job.id] = job
            else:
                ready.append(job)
        self.queue.add_many(ready)

    def accept(self, jobs: list[Job]) -> None:
        """New ones."""
        self.jobs.update((job.id, job) for job in jobs)
        for job in jobs:
            if isinstance(job.status, Queued | Held):
                self.lines.count(job.spec, 1)
            if job.spec.after:
                self._remember_dependencies(job)
        self.enlist([job for job in jobs if isinstance(job.status, Queued)])
        self.changes.new += jobs

    def _delist(self, job: Job) -> None:
        self.passed_since.pop(job.id, None)
        if self.blocked.pop(job.id, None) is None:
            self.queue.remove(job)

    def _leave(self, job: Job) -> None:
        del self.jobs[job.id]
        self._forget_dependencies(job)
        self.durations.learn(job)
        self.outcomes[job.id] = "ok" if isinstance(job.status, Succeeded) else "fail"
        self.settled.append(job.id)

    def forget_old_outcomes(self) -> None:
        """Once everybody who waited was told: very many may end in one event."""
        surplus = max(0, len(self.outcomes) - MOST_OUTCOMES)
        for number in list(islice(self.outcomes, surplus)):  # in one go: to look for the first anew is quadratic
            del self.outcomes[number]

    def _remember_dependencies(self, job: Job) -> None:
        for after in job.spec.after:
            if not after.is_met:
                self.dependents.setdefault(after.job, set()).add(job.id)

    def _forget_dependencies(self, job: Job) -> None:
        for after in job.spec.after:
            waiting = self.dependents.get(after.job)
            if waiting is not None:
                waiting.discard(job.id)
                if not waiting:
                    del self.dependents[after.job]

    def _book(self, job: Job, booking: Booking, since: float) -> None:
        node = self.node(booking.node)
        node.host[job.id] = job.spec.request
        for gpu in booking.gpus:
            node.booked.setdefault(gpu.uuid, {})[job.id] = gpu
            if gpu.parent is not None:
                node.booked_parts.setdefault(gpu.parent, set()).add((job.id, gpu.uuid))
        self.touch(node)
        self.ledger.begin(job, booking, since, self.now, self.rules.half_life_s)
        self._sort_by_leave(job)
        if job.group is not None:
            self.groups.setdefault(job.group, set()).add(job.id)

    def _release(self, job: Job, booking: Booking) -> None:
        node = self.node(booking.node)
        node.host.pop(job.id, None)
        node.activity.pop(job.id, None)
        node.taken_bytes.pop(job.id, None)
        for gpu in booking.gpus:
            held = node.booked.get(gpu.uuid, {})
            held.pop(job.id, None)
            if not held:
                node.booked.pop(gpu.uuid, None)
            if gpu.parent is not None:
                parts = node.booked_parts.get(gpu.parent, set())
                parts.discard((job.id, gpu.uuid))
                if not parts:
                    node.booked_parts.pop(gpu.parent, None)
        self.touch(node)
        for hour, owner, project, gpu_s in self.ledger.end(job.id, self.now, self.rules.half_life_s):
            key = (hour, owner, project)
            self.changes.hours[key] = self.changes.hours.get(key, 0.0) + gpu_s
        self.preemptible.discard(job.id)
        self.leaving.discard(job.id)
        if job.group is not None:
            together = self.groups[job.group]
            together.discard(job.id)
            if not together:
                del self.groups[job.group]

    def _sort_by_leave(self, job: Job) -> None:
        """One that is on its way out already cannot be asked again."""
        is_at_work = isinstance(job.status, Starting | Running) and not job.spec.is_adopted
        may_leave = job.spec.tier == "preemptible" and is_at_work  # what somebody else started cannot come back
        for is_one, jobs in ((may_leave, self.preemptible), (isinstance(job.status, Stopping), self.leaving)):
            if is_one:
                jobs.add(job.id)
            else:
                jobs.discard(job.id)


def _since(status: Status, now: float) -> float:
    """When an attempt got its GPUs, as far as its state remembers."""
    match status:
        case Starting():
            return status.decided_at
        case Running():
            return status.started_at
        case Stopping() | Unknown():
            return now if status.started_at is None else status.started_at
        case _:
            return now
