"""Which waiting job starts next and where: eligible → ordered → placed → checked.

Each step is one small pure function in a file of its own. `explain` asks the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.limits import LimitReached, has_limits, is_owner_done, reached_there
from tarmac.core.policy.backfill import (
    Exclusions,
    OffClaim,
    PlannedStart,
    claim_for,
    is_bound_by,
    overdue,
    prospects_for,
)
from tarmac.core.policy.eligibility import ArrayFull, gate, paused
from tarmac.core.policy.order import Line, Source
from tarmac.core.policy.placement import EVERYTHING, booking_on, fitting_gpus, place
from tarmac.core.policy.preemption import victims
from tarmac.core.policy.recheck import refusal
from tarmac.core.policy.reservations import own_gpus

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.status import Booking
    from tarmac.core.queue import JobClass
    from tarmac.core.state import State

__all__ = ["Decision", "Pass", "Preempt", "Start", "booking_for"]

MOST_PLANNED = 16  # jobs that do not fit and of which a plan is sought, in one pass


@dataclass(frozen=True, slots=True)
class Start:
    job: Job
    booking: Booking


@dataclass(frozen=True, slots=True)
class Preempt:
    """Asked to leave for a job of a higher tier."""

    job: Job
    for_job: Job


Decision: TypeAlias = Start | Preempt


def booking_for(state: State, job: Job, now: float, claim: PlannedStart | None) -> Booking | None:
    """Where the job would go now. What is kept for its owner comes first."""
    if not state.reservations and claim is None:
        return place(state, job.spec.request)
    bounds = Exclusions(state, job, now, claim)
    return _on_own_gpus(state, job, now, bounds) or place(state, job.spec.request, bounds)


def _on_own_gpus(state: State, job: Job, now: float, bounds: Exclusions) -> Booking | None:
    """They are kept from others, and what a job in front claims of them from the owner's own as well."""
    request = job.spec.request
    for name, gpus in own_gpus(state, job.spec.owner, now).items():
        fitting = fitting_gpus(state.nodes[name], request, state.rules) if name in state.nodes else None
        off = bounds.off(state.nodes[name]) if fitting else EVERYTHING
        own = [gpu for gpu in fitting or () if gpu.uuid in gpus and gpu.uuid not in off]
        if request.gpus and len(own) >= request.gpus and off is not EVERYTHING:
            return booking_on(state.nodes[name], own, request)
    return None


class Pass:
    """Once through whoever may start. The cost follows the owners and the starts, not the length of the queue."""

    def __init__(self, state: State, now: float) -> None:
        self._state = state
        self._now = now
        self._has_limits = has_limits(state.rules)
        self._full: set[tuple[Request, bool]] = set()  # what found no room: in a pass it only gets less
        self._immovable: set[Request] = set()  # for which nobody is to leave
        self.claim: PlannedStart | None = None  # for one that was passed for long, else for the first that does not fit
        self.stuck: list[JobId] = []  # whose turn came and who did not fit
        self.is_settled = True  # another pass would find nothing
        self._may_unsettle = False  # a start from now on may make way for somebody who was set aside
        self.blocker: Job | None = None  # without backfill: the one that everybody behind waits for

    def run(self) -> Iterator[Decision]:
        """Best first. The caller applies each before asking for the next."""
        state, now = self._state, self._now
        if paused(state) is not None or not any(node.is_connected for node in state.nodes.values()):
            return
        yield from self._serve_overdue()
        line = Line(state, now)
        for _ in range(MOST_PLANNED):
            stuck = yield from self._start_until_stuck(line)
            if stuck is None:
                return
            self.stuck.append(stuck.id)
            if self.claim is None:
                yield from self._plan(stuck)
            if self.blocker is not None:
                return
            if self.claim is not None:
                break
        line, known = Line(state, now, self._open()), len(self._full)
        while (yield from self._start_until_stuck(line)) is not None:
            # Without any of the kind that just found no room; where nothing new was learned, the same line goes on, so
            # that it comes to an end.
            if not state.reservations and len(self._full) > known:
                line, known = Line(state, now, self._open()), len(self._full)

    def _serve_overdue(self) -> Iterator[Decision]:
        """Turns go round: a wide job whose turn came long ago, and that was passed since, has its GPUs kept first."""
        for job in overdue(self._state, self._now):
            if self._gate(job) is not None:
                continue
            booking = booking_for(self._state, job, self._now, None)
            if booking is not None and self._is_sound(job, booking):
                self.is_settled = False
                yield Start(job, booking)
                return
            yield from self._plan(job)
            if self.claim is not None:
                return

    def _start_until_stuck(self, line: Line) -> Generator[Decision, None, Job | None]:
        """Down the line to the first that does not fit, which is set aside; None at the end of the line."""
        while (klass := line.first()) is not None:
            job = self._head(klass)
            gated = self._gate(job)
            if isinstance(gated, LimitReached) and is_owner_done(gated):
                line.set_owner_aside()
                continue
            booking = None if gated is not None else self._booking(job)
            if booking is not None and self._is_sound(job, booking):
                yield Start(job, booking)
                line.started()
                has_new_turns = self.claim is not None and self._state.rules.policy != "fifo"
                self.is_settled = self.is_settled and not has_new_turns and not self._may_unsettle
                continue
            line.set_aside()
            if booking is None and gated is None:
                return job
        return None

    def _head(self, klass: JobClass) -> Job:
        entry = klass.head()
        assert entry is not None, "a class in the line has a head"
        return self._state.jobs[entry[1]]

    def _gate(self, job: Job) -> LimitReached | ArrayFull | None:
        has_gate = self._has_limits or job.spec.max_running is not None
        return gate(self._state, job, self._now) if has_gate else None

    def _is_sound(self, job: Job, booking: Booking) -> bool:
        if self._has_limits and reached_there(self._state, job, booking) is not None:
            self._may_unsettle = True  # on other GPUs, once these are taken, it may be a smaller part
            return False
        return refusal(self._state, job, booking) is None

    def _booking(self, job: Job) -> Booking | None:
        state, request = self._state, job.spec.request
        if state.reservations:
            return booking_for(state, job, self._now, self.claim)  # what is kept differs from owner to owner
        is_bound = is_bound_by(state, job, self._now, self.claim)
        if (request, False) in self._full or (request, is_bound) in self._full:
            return None
        booking = booking_for(state, job, self._now, self.claim)
        if booking is None:
            self._full.add((request, is_bound))
        return booking

    def _plan(self, job: Job) -> Iterator[Decision]:
        if job.spec.request not in self._immovable:
            leaving = victims(self._state, job, self._now)
            self._immovable |= set() if leaving else {job.spec.request}
            for number in leaving:
                yield Preempt(self._state.jobs[number], job)
        if self._state.rules.is_backfilling:
            self.claim = claim_for(self._state, job, self._now)
        elif any(prospect.gpus for _, prospect in prospects_for(self._state, job, self._now)):
            self.blocker = job

    def _open(self) -> Iterator[Source]:
        """Classes of which it is not plain already that they cannot start."""
        state, claim = self._state, self.claim
        for request, owners in state.queue.requests.items():
            if (request, False) in self._full or not state.room.fits_somewhere(state.nodes, request, state.rules):
                continue
            if claim is None or state.reservations or self._fits_beside(claim, request):
                yield from owners.values()
            elif (until := claim.not_before) is not None:
                classes = (klass for own in owners.values() for klass in own.classes.values())
                yield from (klass for klass in classes if self._is_short(klass, until))

    def _fits_beside(self, claim: PlannedStart, request: Request) -> bool:
        if (request, True) in self._full:
            return False
        return place(self._state, request, OffClaim(claim, request)) is not None

    def _is_short(self, klass: JobClass, until: float) -> bool:
        if klass.least_limit_s > until - self._now:
            return False
        end = self._state.durations.end_if_started(self._head(klass).spec, self._now)
        return end is not None and end <= until
