"""One scheduling pass, in three phases: starved jobs, then jobs in order, then backfill.

1. Starved jobs: a wide job that was passed for long starts, or gets a planned start, before anything else.
2. In order: jobs start best first until one is stuck. It gets a planned start; jobs may be preempted for it.
3. Backfill: jobs further back start where they do not delay the planned start.

A single job passes eligibility → placement → recheck. `explain` asks the same functions.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tarmac.core.limits import LimitReached, has_limits, is_owner_done, reached_there
from tarmac.core.model.plan import FullPass
from tarmac.core.policy.eligibility import ArrayFull, gate, paused
from tarmac.core.policy.order.fair_parts import FairParts
from tarmac.core.policy.order.order import TurnOrder
from tarmac.core.policy.order.own_order import do_turns_rotate
from tarmac.core.policy.order.starvation import is_overdue, starved_jobs
from tarmac.core.policy.placement import booking_beside, booking_for
from tarmac.core.policy.plans.candidates import Candidates, is_full
from tarmac.core.policy.plans.earliest_start import earliest_starts
from tarmac.core.policy.plans.pass_plans import PassPlans
from tarmac.core.policy.plans.planned_start import most_plans, planned_starts, starts_on_preempted_gpus
from tarmac.core.policy.preemption import jobs_to_preempt
from tarmac.core.policy.recheck import refusal
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Generator, Iterator

    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.model.status import Booking
    from tarmac.core.queue.queue import JobClass
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


class Stuck(NamedTuple):
    """A job that does not fit, and its class."""

    klass: JobClass
    job: Job


class Pass:
    """Walks once through the jobs that may start. Cost grows with owners and starts, not with the queue's length.

    `stops_when_full`: make one plan at most where no waiting job fits anywhere. No job could start beside more plans,
    and the next change of a node brings another pass.
    """

    def __init__(self, state: State, now: float, *, stops_when_full: bool = False) -> None:
        self._state = state
        self._now = now
        self._stops_when_full = stops_when_full
        self._has_limits = has_limits(state.rules)
        # Requests that found no place, with the plans (as bits) that they had to stay off. Within a pass places only
        # become fewer, so they are not tried again.
        self._unplaceable: dict[Request, set[int]] = {}
        self._not_preempting: set[Request] = set()  # requests for which no job is worth preempting
        self._most_plans = most_plans(state)
        self._parts = FairParts(state)
        self._planned = PassPlans(state, now)
        self._planned_turns = 0  # stuck jobs that have a plan
        self._preempting: set[JobId] = set()  # jobs with a plan on GPUs that jobs were preempted from for them
        self.stuck: list[JobId] = []  # wide jobs whose turn came and which did not fit
        self.is_settled = True  # another pass would find nothing to do
        self._may_unsettle = False  # a start from now on may let a job fit that was set aside
        self._has_started_beside_plan = False
        self._is_out_of_turn = False  # a job was served before its turn, or passed over for a limit
        self._full_for: Job | None = None  # the first job in turn, where no waiting job fits anywhere
        self.blocker: Job | None = None  # without backfill: the stuck job that every job behind it waits for

    @property
    def plans(self) -> list[PlannedStart]:
        return self._planned.all

    @property
    def replan_at(self) -> float:
        """When an expectation that the plans rest on runs out."""
        return self._planned.good_until

    @property
    def full(self) -> FullPass | None:
        """What a pass after another submit would find as well, where turns change only with what runs and waits."""
        job, rules = self._full_for, self._state.rules
        changes_with_time = self._has_limits or rules.policy == "fairshare" or rules.order != "submitted"
        if job is None or self._is_out_of_turn or changes_with_time:
            return None
        is_late = is_overdue(self._state, job, self._now, self._parts)
        return FullPass(job.id, is_late, self._state.fit_cache.touched.position)

    def run(self) -> Iterator[Decision]:
        """Decisions, best first. The caller must apply each before it asks for the next."""
        if self._is_idle():
            return
        self._keep_preempted_gpus()
        yield from self._serve_owed()
        yield from self._serve_starved()
        if self.blocker is None and (yield from self._start_in_order()):
            yield from self._backfill()
        self._check_plans()
        self.is_settled = self.is_settled or is_full(self._state)

    def _is_idle(self) -> bool:
        return paused(self._state) is not None or not any(node.takes_jobs for node in self._state.nodes.values())

    # The phases

    def _keep_preempted_gpus(self) -> None:
        if not self._state.stopping or not self._state.rules.is_backfilling:
            return
        for planned in starts_on_preempted_gpus(self._state, self._now):
            if planned.job not in self._preempting:
                self._preempting.add(planned.job)
                self._planned.add(planned)

    def _serve_owed(self) -> Iterator[Decision]:
        """Start jobs that others were preempted for, before a plan of another job takes the GPUs."""
        for number in sorted(self._state.owed):
            self._is_out_of_turn = True
            job = self._state.jobs[number]
            if self._gate(job) is not None:
                continue
            booking = booking_for(self._state, job, self._now, self.plans)
            if booking is not None and self._is_sound(job, booking):
                self.is_settled = False
                yield Start(job, booking)

    def _serve_starved(self) -> Iterator[Decision]:
        """Start the first starved job that fits, or plan the start of one that does not."""
        for job in starved_jobs(self._state, self._now, self._parts):
            self._is_out_of_turn = True
            if self._gate(job) is not None:
                continue
            booking = booking_for(self._state, job, self._now, self.plans)
            if booking is not None:
                if not self._is_sound(job, booking):
                    continue
                self.is_settled = False
                yield Start(job, booking)
                return
            yield from self._plan(job)
            if self._planned_turns or self.blocker is not None:
                return

    def _start_in_order(self) -> Generator[Decision, None, bool]:
        """Start jobs in order, and plan the starts of those that are stuck. True if backfill may go on behind them."""
        turns = TurnOrder(self._state, self._now)
        for number in range(MAX_STUCK):
            found = yield from self._start_until_stuck(turns)
            if found is None:
                return False
            klass, stuck = found
            may_plan, had = self._may_plan(stuck), self._planned_turns
            if may_plan and stuck.spec.request.is_wide:
                self.stuck.append(stuck.id)
            if may_plan:
                yield from self._plan(stuck)
                turns.planned_gpus[stuck.spec.owner] += stuck.spec.request.total_gpus * (self._planned_turns - had)
            if self.blocker is not None:
                return False
            if self._stops_when_full and not had and is_full(self._state):
                self._full_for = None if number else stuck
                return False
            if self._planned_turns and not self._may_plan_more(turns.planned_gpus):
                break
            turns.set_aside(self._rest(klass, stuck))
        return True

    def _backfill(self) -> Iterator[Decision]:
        """Start what fits beside the planned starts, or ends before them."""
        candidates = Candidates(self._state, self._now, self.plans)
        turns = TurnOrder(self._state, self._now, candidates.classes())
        while (found := (yield from self._start_until_stuck(turns))) is not None:
            klass, _ = found
            if not self._state.reservations and candidates.has_closed(klass):  # leave out all requests like this one
                turns = TurnOrder(self._state, self._now, candidates.classes())
            else:
                turns.set_aside(self._rest(*found))

    def _check_plans(self) -> None:
        """A start beside a plan may move the planned GPUs. Jobs that had to avoid them may fit then."""
        if not self.is_settled or not self._has_started_beside_plan:
            return
        on_preempted_gpus = starts_on_preempted_gpus(self._state, self._now) if self._preempting else []
        self.is_settled = on_preempted_gpus == [planned for planned in self.plans if planned.job in self._preempting]
        nodes: set[NodeName] = {planned.node for planned in on_preempted_gpus}
        for number, plans in groupby(self.plans, key=attrgetter("job")):
            if number not in self._preempting:
                before = list(plans)
                again = planned_starts(self._state, self._state.jobs[number], self._now, nodes, self._parts)
                self.is_settled = self.is_settled and again == before
                nodes.update(planned.node for planned in before)

    # What the phases share

    def _start_until_stuck(self, turns: TurnOrder) -> Generator[Decision, None, Stuck | None]:
        """Start jobs down to the first that does not fit, and return that one; None at the end of the queue."""
        while (first := turns.first()) is not None:
            klass, number = first
            job = self._state.jobs[number]
            gated = self._gate(job)
            if isinstance(gated, LimitReached) and is_owner_done(gated):
                self._is_out_of_turn = True
                turns.set_owner_aside()
                continue
            booking = None if gated is not None else self._booking(job)
            if booking is not None and self._is_sound(job, booking):
                yield Start(job, booking)
                turns.started()
                self._has_started_beside_plan = self._has_started_beside_plan or bool(self.plans)
                has_new_turns = bool(self.plans) and do_turns_rotate(self._state.rules)
                self.is_settled = self.is_settled and not has_new_turns and not self._may_unsettle
                continue
            if booking is None and gated is None:
                return Stuck(klass, job)
            self._is_out_of_turn = True
            turns.set_aside([])
        return None

    def _may_plan(self, job: Job) -> bool:
        """The first stuck job gets a plan in any case, further ones if they are wide and their owners are due more."""
        if not self._planned_turns:
            return True
        if not job.spec.request.is_wide:
            return False
        return self._parts.is_due(job, self._planned.gpus_of_owner[job.spec.owner])

    def _may_plan_more(self, planned_gpus: Counter[str]) -> bool:
        return self._planned_turns < self._most_plans and self._parts.has_due_owners(planned_gpus)

    def _plan(self, job: Job) -> Iterator[Decision]:
        """Preempt jobs for a stuck job where that helps, and plan its start."""
        if not self._planned_turns and job.spec.request not in self._not_preempting:
            preempted = jobs_to_preempt(self._state, job, self._now)
            if not preempted:
                self._not_preempting.add(job.spec.request)
            for number in preempted:
                yield Preempt(self._state.jobs[number], job)
            self._keep_preempted_gpus()
        if job.id in self._preempting:
            self._planned_turns += 1
        elif self._state.rules.is_backfilling:
            nodes = self._planned.nodes()
            found = planned_starts(self._state, job, self._now, nodes, self._parts) if self._most_plans else []
            for planned in found:
                self._planned.add(planned)
            self._planned_turns += bool(found)
        elif _could_start(self._state, job, self._now):
            self.blocker = job

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
            return booking_for(state, job, self._now, self.plans)  # GPUs differ from owner to owner
        failed = self._unplaceable.setdefault(request, set())
        if 0 in failed or (delayed := self._planned.delayed(job)) in failed:
            return None
        booking = booking_beside(state, request, self._planned.of(delayed))
        if booking is None:
            failed.add(delayed)
        return booking

    def _rest(self, klass: JobClass, failed: Job) -> list[JobId]:
        """The jobs of a class behind the one that just failed that may still start, or get a plan."""
        tried = self._unplaceable.get(klass.request, ())
        may_start = not self._state.reservations and 0 not in tried
        may_plan = self._planned_turns < self._most_plans and self._may_plan(failed)
        if len(klass.waiting) == 1 or not (may_start or may_plan) or not self.plans:
            return []
        jobs = klass.first_jobs()
        place = jobs.index(failed.id) + 1 if failed.id in jobs else len(jobs)
        return jobs[place:] if may_plan or place == len(jobs) else self._planned.others(klass, place, tried)


def _could_start(state: State, job: Job, now: float) -> bool:
    """Are there nodes enough on which it could ever start?"""
    starts = earliest_starts(state, job, now).values()
    return sum(bool(start.gpus) for start in starts) >= job.spec.request.node_count
