"""The live state. Only `machine.handle` changes it; jobs that have ended leave it, the store remembers them."""

from __future__ import annotations

from collections import deque
from dataclasses import field
from itertools import groupby, islice
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.changes import Changes
from tarmac.core.fit.fit_cache import FitCache
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.queue import Mode
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import (
    Held,
    Queued,
    Running,
    Stopping,
    Succeeded,
    Unknown,
    holds_booking,
    is_ended,
    is_working,
    paused_s_of,
)
from tarmac.core.node_bookings import NodeBookings, booked_since
from tarmac.core.queue.queue import Queue
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.core.ledger import HourRow
    from tarmac.core.model.gpu import Drain
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.names import Outcome
    from tarmac.core.model.node import NodeDrain, QuickFailure
    from tarmac.core.model.plan import FullPass
    from tarmac.core.model.queue import Reservation, Suspension
    from tarmac.core.model.status import Booking, Status
    from tarmac.core.queue.queue import RunTimes

MAX_OUTCOMES = 4096
RECENT_WAITS = 200
CLOCKS_DIFFER_S = 1.0  # a smaller difference does not mean that a clock was set


@dataclass(slots=True)
class State(NodeBookings):
    """Facts about jobs, nodes and the queue, and the indexes derived from them."""

    jobs: dict[JobId, Job] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    mode: Mode = field(default_factory=Mode)
    outcomes: dict[JobId, Outcome] = field(default_factory=dict)  # of the jobs that ended last
    recent_waits_s: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_WAITS))  # of jobs that got GPUs
    just_ended: list[JobId] = field(default_factory=list)  # their dependents are not updated yet
    # Of each owner, the jobs that failed in a row soon after their start, with the line that says why.
    failures: dict[str, dict[JobId, str | None]] = field(default_factory=dict)
    # The same of each node, over all owners; and when jobs of each owner last ran well there.
    quick_failures: dict[NodeName, dict[JobId, QuickFailure]] = field(default_factory=dict)
    worked_at: dict[NodeName, dict[str, float]] = field(default_factory=dict)
    next_id: int = 1
    next_reservation: int = 1
    pass_at: float = 0.0  # time of the last scheduling pass
    full_pass: FullPass | None = None  # the last pass, if it says what a pass after another submit would find
    replan_at: float = inf  # when an expectation runs out that a planned start rests on

    def take_changes(self) -> Changes:
        taken, self.changes = self.changes, Changes()
        return taken

    @property
    def run_s(self) -> RunTimes | None:
        return self.runtimes.expected_s if self.rules.order == "expected" else None

    # Loading what the store remembers

    def load(self, jobs: Iterable[Job], *, next_id: int, now: float = 0.0) -> None:
        """Take over the jobs that have not ended."""
        self.now = self.pass_at = now
        waiting = []
        for job in jobs:
            self.jobs[job.id] = job
            self.add_dependencies(job)
            self.add_outputs(job)
            if isinstance(job.status, Queued | Held):
                self.waiting_counts.add(job.spec)
            if isinstance(job.status, Queued):
                job.status = job.status.with_wait_from(now)
                waiting.append(job)
            elif (booking := holds_booking(job.status)) is not None:
                self.book(job, booking, booked_since(job.status, now))
        self.enqueue(waiting, now)
        self.next_id = max(self.next_id, next_id)

    def load_suspensions(self, suspensions: Iterable[Suspension]) -> None:
        """Call before `load`."""
        self.suspended = {one.owner: one for one in suspensions}

    def load_gpu(self, node: NodeName, gpu: GpuUuid, drain: Drain | None, slots: int) -> None:
        if drain is not None:
            self.node(node).drains[gpu] = drain
        if slots != 1:
            self.node(node).slots[gpu] = slots

    def load_node(self, node: NodeName, drain: NodeDrain) -> None:
        self.node(node).drain = drain

    def load_mode(self, mode: Mode) -> None:
        self.mode = mode

    def load_reservation(self, reservation: Reservation) -> None:
        self.reservations[reservation.id] = reservation
        self.next_reservation = max(self.next_reservation, reservation.id + 1)

    def load_hours(self, rows: Iterable[HourRow], now: float) -> None:
        self.ledger.add(rows)
        self.ledger.fade_anew(now, self.rules.half_life_s)

    def load_runtimes(self, newest_first: Iterable[Job]) -> None:
        self.runtimes.learn_all(newest_first)
        for job in self.jobs.values():
            if holds_booking(job.status) is not None:
                self.runtimes.expect(job)
        if self.run_s is not None:
            self._requeue_all()  # classes depend on how long jobs run
        self.fit_cache.clear()  # it holds expected ends

    def booked_jobs(self, *, are_connected: bool = False) -> list[Job]:
        """The jobs that hold a booking, each once. `are_connected`: on nodes that are connected."""
        nodes = (node for node in self.nodes.values() if node.is_connected or not are_connected)
        return [self.jobs[number] for number in dict.fromkeys(number for node in nodes for number in node.host)]

    # The queue as a whole

    def set_rules(self, rules: Rules) -> None:
        has_other_half_life = rules.half_life_s != self.rules.half_life_s
        has_other_order = rules.order != self.rules.order
        self.rules = rules
        self.fit_cache.clear()
        if has_other_order:
            self._requeue_all()
        if has_other_half_life:
            self.ledger.fade_anew(self.now, rules.half_life_s)

    def _requeue_all(self) -> None:
        jobs = [self.jobs[number] for number in self.queue.in_order()]
        self.queue = Queue()
        self.queue.add_many(jobs, self.run_s)

    def set_mode(self, mode: Mode) -> None:
        self.mode = self.changes.mode = mode

    def set_suspension(self, owner: str, suspension: Suspension | None) -> None:
        """Suspend an owner's jobs, or let them go on."""
        self.failures.pop(owner, None)
        if suspension is None:
            self.suspended.pop(owner, None)
        else:
            self.suspended[owner] = suspension
        self.changes.suspended[owner] = suspension
        jobs = [job for job in self.jobs.values() if job.spec.owner == owner and isinstance(job.status, Queued)]
        for job in jobs:
            self.dequeue(job)
        self.enqueue(jobs, self.now)

    def set_reservation(self, number: int, reservation: Reservation | None) -> None:
        if reservation is None:
            self.reservations.pop(number, None)
        else:
            self.reservations[number] = reservation
        self.changes.reservations[number] = reservation

    def remove_node(self, name: NodeName) -> None:
        """Drop a node with everything that was decided about it. The caller guarantees that no job holds anything."""
        node = self.nodes[name]
        for gpu in sorted({*node.drains, *node.slots}):
            self.forget_gpu(node, gpu)
        for one in [one for one in self.reservations.values() if one.node == name]:
            self.set_reservation(one.id, None)
        if node.drain is not None:
            self.set_node_drain(node, None)
        self.quick_failures.pop(name, None)
        self.worked_at.pop(name, None)
        del self.nodes[name]
        self.fit_cache = FitCache()  # it numbers nodes
        self.full_pass = None

    # Jobs

    def accept(self, jobs: list[Job]) -> None:
        """Add new jobs."""
        self.jobs.update((job.id, job) for job in jobs)
        for _, together in groupby(jobs, key=lambda job: (id(job.spec), id(job.status))):  # an array shares both
            first, *more = together
            if isinstance(first.status, Queued | Held):
                self.waiting_counts.add(first.spec, 1 + len(more))
            if first.spec.after or first.spec.outputs:
                for job in (first, *more):
                    self.add_dependencies(job)
                    self.add_outputs(job)
        self.enqueue([job for job in jobs if isinstance(job.status, Queued)], self.now)
        self.changes.new += jobs

    def revive(self, job: Job) -> None:
        """Take an ended job back; `enter` queues it."""
        self.jobs[job.id] = job
        self.outcomes.pop(job.id, None)
        self.add_dependencies(job)
        self.add_outputs(job)
        self.changes.changed[job.id] = job

    def enter(self, job: Job, status: Status) -> None:
        """Put a job into another state; queue, bookings and the live jobs follow."""
        was_queued, had = isinstance(job.status, Queued), holds_booking(job.status)
        if was_queued:
            self.dequeue(job)
        if isinstance(job.status, Queued | Held) != isinstance(status, Queued | Held):
            self.waiting_counts.add(job.spec, 1 if isinstance(status, Queued | Held) else -1)
        paused_s = max(paused_s_of(job.status, self.now), paused_s_of(status, self.now))
        job.status = status
        has = holds_booking(status)
        is_other = has is None or not has.holds_what(had)
        if had is not None and is_other:
            self.release(job, had, paused_s)
        if has is not None and is_other:
            self.book(job, has, self.now)
        elif has is not None:
            self.add_booked(job)
            self._touch_nodes(has)
        if not is_working(status):
            self.runtimes.ends_by_progress.pop(job.id, None)
        if isinstance(status, Queued):
            self.enqueue([job], self.now)
        elif is_ended(status):
            self._remove(job)
        self.changes.changed[job.id] = job

    def edit(self, job: Job, spec: JobSpec) -> None:
        """Change what a waiting job asks for."""
        self.edit_many([(job, spec)])

    def edit_many(self, edits: Sequence[tuple[Job, JobSpec]]) -> None:
        """Change what waiting jobs ask for. They enter the queue again together."""
        queued = [job for job, _ in edits if isinstance(job.status, Queued)]
        for job in queued:
            self.dequeue(job)
        for job, spec in edits:
            self.remove_dependencies(job)
            self.remove_outputs(job)
            if isinstance(job.status, Queued | Held):
                self.waiting_counts.remove(job.spec)
                self.waiting_counts.add(spec)
            job.spec = spec
            self.add_dependencies(job)
            self.add_outputs(job)
            self.changes.changed[job.id] = job
            self.changes.edited.add(job.id)
        self.enqueue(queued, self.now)

    def relabel(self, job: Job, spec: JobSpec) -> None:
        """Give a job in any state another name, tags or note. Its place in the queue may depend on the name."""
        if spec.name != job.spec.name:
            self.edit(job, spec)
            return
        job.spec = spec
        self.changes.changed[job.id] = job
        self.changes.edited.add(job.id)

    def put(self, job: Job, position: float) -> None:
        """Move a job among those of its priority."""
        is_queued = isinstance(job.status, Queued)
        if is_queued:
            self.dequeue(job)
        job.position = position
        if is_queued:
            self.enqueue([job], self.now)
        self.changes.changed[job.id] = job

    def note_begin(self, job: Job, began: float) -> None:
        """When its attempt began, on the clock as it is set now."""
        self.runtimes.began[job.id] = began
        recorded = getattr(job.status, "started_at", None)
        if recorded is not None and abs(began - recorded) > CLOCKS_DIFFER_S:
            self.ledger.correct(job.id, recorded, began, self.now, self.rules.half_life_s)
        booking = holds_booking(job.status)
        if booking is not None:
            self._touch_nodes(booking)

    def note_end_by_progress(self, job: Job, at: float | None) -> None:
        """When a running job ends by its own progress; None if it does not say."""
        ends = self.runtimes.ends_by_progress
        booking = holds_booking(job.status)
        if booking is None or ends.get(job.id) == at:
            return
        if at is None:
            del ends[job.id]
        else:
            ends[job.id] = at
        self._touch_nodes(booking)

    def _touch_nodes(self, booking: Booking) -> None:
        """The expected end of the job may have changed."""
        for name in booking.held_nodes:
            self.fit_cache.touch(name)

    def keep_begins(self, began: dict[JobId, float]) -> None:
        """Keep what was known before the state was loaded again."""
        for job in self.jobs.values():
            if job.id in began and isinstance(job.status, Running | Stopping | Unknown):
                self.note_begin(job, began[job.id])

    def learn_run(self, ended: Job) -> None:
        """Learn how long a job ran. What is expected of running jobs stays as it was."""
        self.runtimes.learn(ended)
        if self.run_s is not None:
            self.queue.learned(ended.spec, self.jobs, self.run_s)

    def keep_patience(self, before: State) -> None:
        """Keep how long jobs have been stuck, and how long others waited, when the state is loaded again."""
        queued = set(self.queue.in_order())
        self.stuck_since.update((job, at) for job, at in before.stuck_since.items() if job in queued)
        self.recent_waits_s.extend(before.recent_waits_s)

    def forget_old_outcomes(self) -> None:
        """Call once all dependents are updated: many jobs may end in one event."""
        surplus = max(0, len(self.outcomes) - MAX_OUTCOMES)
        for number in list(islice(self.outcomes, surplus)):  # at once: to search for the first each time is quadratic
            del self.outcomes[number]

    def _remove(self, job: Job) -> None:
        """Drop a job that has ended."""
        del self.jobs[job.id]
        self.remove_dependencies(job)
        self.remove_outputs(job)
        self.learn_run(job)
        self.outcomes[job.id] = "ok" if isinstance(job.status, Succeeded) else "fail"
        self.just_ended.append(job.id)
