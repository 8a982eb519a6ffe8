"""Why a job waits, as data, from the same functions that decide. Empty exactly when it would start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.explain.reasons import (
    Behind,
    HeldBy,
    IsDraft,
    KeptFor,
    NotBefore,
    OwnerSuspended,
    PathMissing,
    Reason,
    ReservedFor,
    RetryAt,
    WaitsFor,
)
from tarmac.core.explain.why_not import why_not
from tarmac.core.fit.node_fit import (
    fits,
)
from tarmac.core.limits import all_reached, all_reached_there
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.core.policy.eligibility import ArrayFull, gate, paused
from tarmac.core.policy.placement import booking_for
from tarmac.core.policy.plans.exclusions import would_delay
from tarmac.core.policy.reservations import in_the_way
from tarmac.core.policy.scheduling_pass import Pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.model.queue import Reservation
    from tarmac.core.state import State


class Explainer:
    """Why jobs wait at one moment. Reasons that jobs share are computed once."""

    def __init__(self, state: State, now: float) -> None:
        self.state = state
        self.now = now
        self._turn = Pass(state, now)
        self._is_turn_over = next(self._turn.run(), None) is None
        self._of_requests: dict[Request, tuple[Reason, ...]] = {}

    def planned_start(self, job: Job) -> PlannedStart | None:
        """The planned start that GPUs are held back for at the moment."""
        return next((planned for planned in self._turn.plans if planned.job == job.id), None)

    def reasons(self, job: Job) -> tuple[Reason, ...]:
        """Empty for a job that would start now and for one that does not wait."""
        match job.status:
            case Held(by=by, since=since):
                return (HeldBy(by=by, since=since), *self._not_yet(job))
            case Draft():
                return (IsDraft(), *self._not_yet(job))
            case Queued():
                return self._of_queued(job)
            case _:
                return ()

    def unavailable_gpus(self, job: Job, node: Node) -> dict[GpuUuid, KeptFor | ReservedFor]:
        """The GPUs of the node that this job must not use although they may be free, and why."""
        found: dict[GpuUuid, KeptFor | ReservedFor] = {}
        for planned in self._turn.plans:
            if planned.node == node.name and would_delay(self.state, job, self.now, planned):
                found |= dict.fromkeys(planned.gpus, _kept_for(planned))
        ways = sorted(self._ways(job, node.name), key=lambda one: -one.begins_at)  # the earliest wins
        return found | {gpu: _reserved_for(one) for one in ways for gpu in one.gpus}

    def _not_yet(self, job: Job) -> tuple[Reason, ...]:
        """What the job waits for besides its turn."""
        found: list[Reason] = [WaitsFor(job=after.job, on=after.on) for after in job.spec.after if not after.is_met]
        begin, status = job.spec.begin_at, job.status
        if begin is not None and begin > self.now:
            found.append(NotBefore(at=begin))
        retry_at = status.retry_at if isinstance(status, Queued) else None
        if isinstance(status, Queued) and status.requeued is not None and retry_at is not None and retry_at > self.now:
            found.append(RetryAt(job=job.id, at=retry_at, attempt=job.attempt + 1, reason=status.requeued.note))
        suspension = self.state.suspended.get(job.spec.owner)
        if suspension is not None:
            found.append(OwnerSuspended(owner=job.spec.owner, reason=suspension.reason, since=suspension.since))
        return tuple(found)

    def _of_queued(self, job: Job) -> tuple[Reason, ...]:
        stopped = paused(self.state)
        if blocked := self._not_yet(job):
            return blocked if stopped is None else (*blocked, stopped)
        gates = self._gates(job) if stopped is None else [stopped, *self._gates(job)]
        found = (*gates, *self._of_place(job, is_open=not gates))
        return (*found, *self._missing(job)) if found else ()

    def _missing(self, job: Job) -> list[Reason]:
        """What nodes lack that are not used for the job."""
        known = (one for one in job.spec.missing if one.node in self.state.nodes)
        return [PathMissing(node=one.node, path=one.path) for one in known]

    def _gates(self, job: Job) -> list[Reason]:
        """Every limit that is reached; a pass stops at the first."""
        first = gate(self.state, job, self.now)
        if first is None:
            return []
        limits = all_reached(self.state, job, self.now)
        return [first, *limits] if isinstance(first, ArrayFull) else [*limits]

    def _of_place(self, job: Job, *, is_open: bool) -> tuple[Reason, ...]:
        request = job.spec.request
        if request not in self._of_requests:
            self._of_requests[request] = why_not(self.state, request)
        if reasons := self._of_requests[request]:
            return (*reasons, *self._reserved(job))
        booking = booking_for(self.state, job, self.now, self._turn.plans)
        if booking is None:
            return tuple(self._withheld(job))
        if limits := tuple(all_reached_there(self.state, job, booking)):
            return limits
        first = self._first_before(job) if is_open else None
        return () if first is None else (Behind(job=first),)

    def _withheld(self, job: Job) -> list[Reason]:
        """The job would fit, but the GPUs are held back or reserved."""
        found = self._reserved(job)
        if not self._turn.plans or booking_for(self.state, job, self.now, ()) is None:
            return found
        return [*(_kept_for(planned) for planned in self._turn.plans if self._is_withheld(job, planned)), *found]

    def _is_withheld(self, job: Job, planned: PlannedStart) -> bool:
        """Would the job fit there now, if the start were not planned?"""
        is_usable = fits(self.state.nodes[planned.node], job.spec.request, self.state.rules)
        return is_usable and would_delay(self.state, job, self.now, planned)

    def _reserved(self, job: Job) -> list[Reason]:
        """Reservations of other owners that the job would overlap if it started now."""
        if not job.spec.request.gpus:
            return []
        return [_reserved_for(one) for name in self.state.nodes for one in self._ways(job, name)]

    def _ways(self, job: Job, node: NodeName) -> Iterator[Reservation]:
        end = self.state.runtimes.end_if_started(job.spec, self.now)
        return in_the_way(self.state, job.spec, node, self.now, end)

    def _first_before(self, job: Job) -> JobId | None:
        """The job that goes first: the head of its class, or the stuck job where backfill is off."""
        blocker = self._turn.blocker
        if blocker is not None and blocker.id != job.id:
            return blocker.id
        klass = self.state.queue.class_of(job)
        head = None if klass is None else klass.head_job()
        return None if head == job.id or not self._is_turn_over else head


def _kept_for(planned: PlannedStart) -> KeptFor:
    gpus, at = len(planned.gpus), planned.shown_at
    return KeptFor(job=planned.job, node=planned.node, gpus=gpus, at=at, is_overdue=planned.is_overdue)


def _reserved_for(one: Reservation) -> ReservedFor:
    return ReservedFor(reservation=one.id, owner=one.owner, node=one.node, begins_at=one.begins_at, ends_at=one.ends_at)
