"""Which waiting classes backfill may start: those that fit beside all planned starts, and those with short jobs.

Looks at kinds of requests first, so that the cost does not grow with the number of different requests.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.policy.placement import has_place
from tarmac.core.policy.plans.exclusions import Lengths, PlannedGpus, Windows, lengths_of
from tarmac.core.queue.queue import Shortest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.core.fit.fit_cache import Fits
    from tarmac.core.model.job import Request
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.policy.order.own_order import Source
    from tarmac.core.queue.queue import JobClass
    from tarmac.core.queue.request_kinds import Kind
    from tarmac.core.state import State

CLOSED, SHORT_ONLY, OPEN = range(3)  # no request of the kind fits; only in place of a planned start; beside them all


class MostFree(NamedTuple):
    """The most GPUs of one node that the plainest request could use."""

    read: int  # the last change of a node that was taken in
    at_all: int
    beside_plans: int


class Candidates:
    def __init__(self, state: State, now: float, plans: Sequence[PlannedStart]) -> None:
        self._state = state
        self._plans = plans
        self._planned_nodes = {planned.node for planned in plans}
        self._windows = Windows(now, plans)
        self._free: dict[Request, MostFree] = {}  # for parts of GPUs, and for whole ones
        self._standings: dict[Kind, int] = {}  # as they were when the classes were listed; others are closed
        self._listed = -1  # the last change of a node at that time
        self._open: dict[Request, int] = {}  # the standings of requests as of the last change of a node
        self._read = -1

    def classes(self) -> Iterator[Source]:
        self._standings = {}
        for least in self._state.queue.least.groups():
            if least.bound is None or self._most_free(least.bound).at_all >= least.request.gpus:
                self._standings.update((kind, self._standing(kind)) for kind in least.kinds)
        self._listed = self._state.fit_cache.touched.position
        planned = self._planned_classes() if SHORT_ONLY in self._standings.values() else {}
        for kind, standing in self._standings.items():
            if standing == OPEN:
                yield from kind.owners.values()
            elif standing == SHORT_ONLY and self._admits(kind):
                classes = (klass for own in kind.owners.values() for klass in own.classes.values())
                yield from (klass for klass in classes if self._admits_class(klass) or klass in planned)
            elif standing == SHORT_ONLY:  # a planned start does not block the job it is for
                yield from (klass for klass in planned if klass.kind is kind)

    def _planned_classes(self) -> dict[JobClass, None]:
        """The classes of the jobs with planned starts, in the order of the plans."""
        found = (self._state.queue.class_of(self._state.jobs[one.job]) for one in self._plans)
        return dict.fromkeys(klass for klass in found if klass is not None)

    def has_closed(self, klass: JobClass) -> bool:
        """Do fewer requests of this kind fit than when the classes were listed?"""
        if self._listed == self._state.fit_cache.touched.position:
            return False
        return self._standing(klass.kind) < self._standings.get(klass.kind, CLOSED)

    def _standing(self, kind: Kind) -> int:
        state, least, bound = self._state, kind.least(), kind.bound()
        if bound is not None:
            free = self._most_free(bound)
            if free.at_all < least.gpus:
                return CLOSED
            if free.beside_plans < least.gpus and not self._admits(kind):
                return SHORT_ONLY
        if self._read != state.fit_cache.touched.position:
            self._read, self._open = state.fit_cache.touched.position, {}
        standing = self._open.get(least)
        if standing is None:
            standing = self._open[least] = self._standing_of(least)
        return standing

    def _standing_of(self, least: Request) -> int:
        state = self._state
        nodes = state.fit_cache.fits_of(state.nodes, least, state.rules).usable
        if not nodes:
            return CLOSED
        if not self._plans or state.reservations or any(name not in self._planned_nodes for name in nodes):
            return OPEN
        return OPEN if has_place(state, least, PlannedGpus(self._plans, least)) else SHORT_ONLY

    def _most_free(self, least: Request) -> MostFree:
        state = self._state
        known = self._free.get(least)
        if known is not None and known.read == state.fit_cache.touched.position:
            return known
        most = state.fit_cache.most_usable(state.nodes, least, state.rules)
        fits = state.fit_cache.fits_of_least(state.nodes, least, state.rules)
        is_bound = self._plans and not state.reservations
        found = MostFree(fits.read, most, self._most_beside_plans(least, fits) if is_bound else most)
        self._free[least] = found
        return found

    def _most_beside_plans(self, least: Request, fits: Fits) -> int:
        state, planned = self._state, PlannedGpus(self._plans, least)
        most = 0
        for usable in sorted(fits.by_usable, reverse=True):
            for number in fits.by_usable[usable]:
                if usable <= most:
                    return most
                node = state.nodes[state.fit_cache.touched.names[number]]
                if off := planned.off(node):
                    gpus = fitting_gpus(node, least, state.rules) or ()
                    most = max(most, sum(gpu.uuid not in off for gpu in gpus))
                else:
                    most = usable
        return most

    def _admits(self, kind: Kind) -> bool:
        limit_s = kind.least_limit_s
        return not limit_s or self._windows.admit_limit(limit_s)

    def _admits_class(self, klass: JobClass) -> bool:
        return self._windows.admit(shortest_of(self._state, klass))


def is_full(state: State) -> bool:
    """Does no waiting job fit anywhere, and may none preempt? Then another pass would find nothing."""
    if state.preemptible:
        return False
    cache, nodes, rules = state.fit_cache, state.nodes, state.rules
    for request, bound, _ in state.queue.least.groups():
        if bound is not None and cache.most_usable(nodes, bound, rules) < request.gpus:
            continue
        if cache.fits_somewhere(nodes, request, rules):
            return False
    return True


def shortest_of(state: State, klass: JobClass) -> Lengths:
    """No job of the class that may be tried is shorter. Remembered until the class or its owner's runtimes change."""
    learned = state.runtimes.learned.get(klass.owner, 0)
    known = klass.shortest
    if known is None or known.learned != learned:
        lengths = [lengths_of(state, state.jobs[job].spec) for job in klass.first_jobs()]
        usual_s = min(one.usual_s for one in lengths)
        known = klass.shortest = Shortest(learned, usual_s, min(one.cautious_s for one in lengths))
    return Lengths(known.usual_s, known.cautious_s, known.usual_s if klass.has_limits else inf)


def first_limits_s(state: State, klass: JobClass) -> list[float]:
    """The time limits of the first jobs of a class whose jobs have limits. Remembered until the class changes."""
    known = klass.first_limits_s
    if known is None:
        limits_s = (state.jobs[job].spec.time_limit_s for job in klass.first_jobs())
        known = klass.first_limits_s = [limit_s for limit_s in limits_s if limit_s is not None]
    return known
