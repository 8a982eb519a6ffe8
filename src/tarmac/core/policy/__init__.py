"""Which waiting job starts next and where: eligible → ordered → placed → checked.

Each step is one small pure function in a file of its own. `explain` asks the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.policy.checked import refusal
from tarmac.core.policy.claimed import Bounds, Claim, claim_for, prospects_for
from tarmac.core.policy.eligible import gate, paused
from tarmac.core.policy.ordered import Line
from tarmac.core.policy.placed import booking_on, fitting_cards, place
from tarmac.core.policy.preempted import victims
from tarmac.core.policy.reserved import own_cards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model import Booking, Job
    from tarmac.core.queue import JobClass
    from tarmac.core.state import State

__all__ = ["Decision", "Evict", "Pass", "Start", "booking_for", "decisions"]

MOST_PLANNED = 16  # jobs that do not fit and of which a plan is sought, in one pass


@dataclass(frozen=True, slots=True)
class Start:
    job: Job
    booking: Booking


@dataclass(frozen=True, slots=True)
class Evict:
    """Asked to leave for a job of a higher tier."""

    job: Job
    for_job: Job


Decision: TypeAlias = Start | Evict


def decisions(state: State, now: float) -> Iterator[Decision]:
    """The starts of one pass, best first. The caller applies each before asking for the next."""
    return Pass(state, now).run()


def booking_for(state: State, job: Job, now: float, claim: Claim | None) -> Booking | None:
    """Where the job would go now. What is kept for its owner comes first."""
    if not state.reservations and claim is None:
        return place(state, job.spec.request)
    return _on_own_cards(state, job, now) or place(state, job.spec.request, Bounds(state, job, now, claim))


def _on_own_cards(state: State, job: Job, now: float) -> Booking | None:
    request = job.spec.request
    for name, cards in own_cards(state, job.spec.owner, now).items():
        fitting = fitting_cards(state.nodes[name], request, state.rules) if name in state.nodes else None
        own = [gpu for gpu in fitting or () if gpu.uuid in cards]
        if request.gpus and len(own) >= request.gpus:
            return booking_on(state.nodes[name], own, request)
    return None


class Pass:
    """Once through whoever may start. The cost follows the owners and the starts, not the length of the queue."""

    def __init__(self, state: State, now: float) -> None:
        self._state = state
        self._now = now
        self.claim: Claim | None = None  # for the first that does not fit
        self.blocker: Job | None = None  # without backfill: the one that everybody behind waits for

    def run(self) -> Iterator[Decision]:
        state, now = self._state, self._now
        if paused(state) is not None or not any(node.is_connected for node in state.nodes.values()):
            return
        line, planned = Line(state, now), 0
        while (klass := line.first()) is not None:
            job = self._head(klass)
            if gate(state, job, now) is not None:
                line.set_aside()
                continue
            booking = booking_for(state, job, now, self.claim)
            if booking is not None and refusal(state, job, booking) is None:
                yield Start(job, booking)
                line.started()
                continue
            line.set_aside()
            if booking is None and self.claim is None and planned < MOST_PLANNED:
                planned += 1
                yield from self._plan(job)
                if self.blocker is not None:
                    return
                if self.claim is not None or planned == MOST_PLANNED:
                    line = Line(state, now, self._open())

    def _head(self, klass: JobClass) -> Job:
        entry = klass.head()
        assert entry is not None, "a class in the line has a head"
        return self._state.jobs[entry[1]]

    def _plan(self, job: Job) -> Iterator[Decision]:
        for number in victims(self._state, job, self._now):
            yield Evict(self._state.jobs[number], job)
        if self._state.rules.is_backfilling:
            self.claim = claim_for(self._state, job, self._now)
        elif any(prospect.cards for _, prospect in prospects_for(self._state, job, self._now)):
            self.blocker = job

    def _open(self) -> Iterator[JobClass]:
        """Classes of which it is not plain already that they fit nowhere."""
        state = self._state
        for request, classes in state.queue.requests.items():
            if state.room.fits_somewhere(state.nodes, request, state.rules):
                yield from classes.values()
