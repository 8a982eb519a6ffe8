"""One scheduling pass, in three phases: starved jobs, then jobs in order, then backfill.

1. Starved jobs: a wide job that was passed for long starts, or gets a planned start, before anything else.
2. In order: jobs start best first until one is stuck. It gets a planned start; jobs may be preempted for it.
3. Backfill: jobs further back start where they do not delay the planned start.

A single job passes eligibility → placement → recheck. `explain` asks the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.limits import LimitReached, has_limits, is_owner_done, reached_there
from tarmac.core.policy.earliest_start import earliest_starts
from tarmac.core.policy.eligibility import ArrayFull, gate, paused
from tarmac.core.policy.exclusions import PlannedGpus, would_delay
from tarmac.core.policy.order import Source, TurnOrder
from tarmac.core.policy.placement import booking_for, place
from tarmac.core.policy.planned_start import planned_start
from tarmac.core.policy.preemption import jobs_to_preempt
from tarmac.core.policy.recheck import refusal
from tarmac.core.policy.starvation import starved_jobs

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.model.status import Booking
    from tarmac.core.queue import JobClass
    from tarmac.core.state import State

MAX_STUCK = 16  # jobs that do not fit and for which a plan is sought, in one pass


@dataclass(frozen=True, slots=True)
class Start:
    job: Job
    booking: Booking


@dataclass(frozen=True, slots=True)
class Preempt:
    """Stop a job so that a job of a higher tier can start in its place."""

    job: Job
    for_job: Job


Decision: TypeAlias = Start | Preempt


class Pass:
    """Walks once through the jobs that may start. Cost grows with owners and starts, not with the queue's length."""

    def __init__(self, state: State, now: float) -> None:
        self._state = state
        self._now = now
        self._has_limits = has_limits(state.rules)
        # Requests that found no place. Within a pass places only become fewer, so they are not tried again.
        self._unplaceable: set[Request] = set()
        self._unplaceable_beside_plan: set[Request] = set()  # by jobs that must stay off the planned GPUs
        self._not_preempting: set[Request] = set()  # requests for which no job is worth preempting
        self.planned: PlannedStart | None = None
        self.stuck: list[JobId] = []  # jobs whose turn came and which did not fit
        self.is_settled = True  # another pass would find nothing to do
        self._may_unsettle = False  # a start from now on may let a job fit that was set aside
        self._has_started_beside_plan = False
        self.blocker: Job | None = None  # without backfill: the stuck job that every job behind it waits for

    def run(self) -> Iterator[Decision]:
        """Decisions, best first. The caller must apply each before it asks for the next."""
        if self._is_idle():
            return
        yield from self._serve_starved()
        if (yield from self._start_in_order()):
            yield from self._backfill()
        self._check_plan()

    def _is_idle(self) -> bool:
        return paused(self._state) is not None or not any(node.is_connected for node in self._state.nodes.values())

    # The phases

    def _serve_starved(self) -> Iterator[Decision]:
        """Start the first starved job that fits, or plan the start of one that does not."""
        for job in starved_jobs(self._state, self._now):
            if self._gate(job) is not None:
                continue
            booking = booking_for(self._state, job, self._now, None)
            if booking is not None and self._is_sound(job, booking):
                self.is_settled = False
                yield Start(job, booking)
                return
            yield from self._plan(job)
            if self.planned is not None:
                return

    def _start_in_order(self) -> Generator[Decision, None, bool]:
        """Start jobs in order until one that is stuck has a planned start. True if backfill may go on behind it."""
        turns = TurnOrder(self._state, self._now)
        for _ in range(MAX_STUCK):
            stuck = yield from self._start_until_stuck(turns)
            if stuck is None:
                return False
            self.stuck.append(stuck.id)
            if self.planned is None:
                yield from self._plan(stuck)
            if self.blocker is not None:
                return False
            if self.planned is not None:
                break
        return True

    def _backfill(self) -> Iterator[Decision]:
        """Start what fits beside the planned start, or ends before it."""
        turns, failures = TurnOrder(self._state, self._now, self._candidates()), self._failures()
        while (yield from self._start_until_stuck(turns)) is not None:
            # Leave out requests like the one that just failed. Where nothing new was learned the same order goes on,
            # so that the loop ends.
            if not self._state.reservations and self._failures() > failures:
                turns, failures = TurnOrder(self._state, self._now, self._candidates()), self._failures()

    def _check_plan(self) -> None:
        """A start beside the plan may move the planned GPUs. Jobs that had to avoid them may fit then."""
        if self.is_settled and self.planned is not None and self._has_started_beside_plan:
            job = self._state.jobs[self.planned.job]
            self.is_settled = planned_start(self._state, job, self._now) == self.planned

    # What the phases share

    def _start_until_stuck(self, turns: TurnOrder) -> Generator[Decision, None, Job | None]:
        """Start jobs down to the first that does not fit, and return that one; None at the end of the queue."""
        while (klass := turns.first()) is not None:
            job = self._head(klass)
            gated = self._gate(job)
            if isinstance(gated, LimitReached) and is_owner_done(gated):
                turns.set_owner_aside()
                continue
            booking = None if gated is not None else self._booking(job)
            if booking is not None and self._is_sound(job, booking):
                yield Start(job, booking)
                turns.started()
                self._has_started_beside_plan = self._has_started_beside_plan or self.planned is not None
                has_new_turns = self.planned is not None and self._state.rules.policy != "fifo"
                self.is_settled = self.is_settled and not has_new_turns and not self._may_unsettle
                continue
            turns.set_aside()
            if booking is None and gated is None:
                return job
        return None

    def _plan(self, job: Job) -> Iterator[Decision]:
        """Preempt jobs for a stuck job where that helps, and plan its start."""
        if job.spec.request not in self._not_preempting:
            preempted = jobs_to_preempt(self._state, job, self._now)
            if not preempted:
                self._not_preempting.add(job.spec.request)
            for number in preempted:
                yield Preempt(self._state.jobs[number], job)
        if self._state.rules.is_backfilling:
            self.planned = planned_start(self._state, job, self._now)
        elif any(start.gpus for start in earliest_starts(self._state, job, self._now).values()):
            self.blocker = job

    def _head(self, klass: JobClass) -> Job:
        return self._state.jobs[klass.head_job()]

    def _gate(self, job: Job) -> LimitReached | ArrayFull | None:
        has_gate = self._has_limits or job.spec.max_running is not None
        return gate(self._state, job, self._now) if has_gate else None

    def _is_sound(self, job: Job, booking: Booking) -> bool:
        """Recheck the booking against limits and the newest state."""
        if self._has_limits and reached_there(self._state, job, booking) is not None:
            self._may_unsettle = True  # on other GPUs, once these are taken, the job may count for less
            return False
        return refusal(self._state, job, booking) is None

    def _booking(self, job: Job) -> Booking | None:
        state, request = self._state, job.spec.request
        if state.reservations:
            return booking_for(state, job, self._now, self.planned)  # GPUs differ from owner to owner
        is_bound = would_delay(state, job, self._now, self.planned)
        if request in self._unplaceable or (is_bound and request in self._unplaceable_beside_plan):
            return None
        booking = booking_for(state, job, self._now, self.planned)
        if booking is None:
            (self._unplaceable_beside_plan if is_bound else self._unplaceable).add(request)
        return booking

    def _failures(self) -> int:
        return len(self._unplaceable) + len(self._unplaceable_beside_plan)

    def _candidates(self) -> Iterator[Source]:
        """The classes of jobs that backfill may still start."""
        state, planned = self._state, self.planned
        for request, owners in state.queue.requests.items():
            if request in self._unplaceable:
                continue
            if not state.fit_cache.fits_somewhere(state.nodes, request, state.rules):
                continue
            if planned is None or state.reservations or self._fits_beside(planned, request):
                yield from owners.values()
            elif (until := planned.backfill_until) is not None:
                classes = (klass for own in owners.values() for klass in own.classes.values())
                yield from (klass for klass in classes if self._ends_by(klass, until))

    def _fits_beside(self, planned: PlannedStart, request: Request) -> bool:
        if request in self._unplaceable_beside_plan:
            return False
        return place(self._state, request, PlannedGpus(planned, request)) is not None

    def _ends_by(self, klass: JobClass, until: float) -> bool:
        """Would the first job of the class, started now, end by then?"""
        if klass.least_limit_s > until - self._now:
            return False
        end = self._state.runtimes.end_if_started(self._head(klass).spec, self._now)
        return end is not None and end <= until
