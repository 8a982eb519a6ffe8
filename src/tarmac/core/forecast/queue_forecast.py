"""The order of the queue and when its first jobs will likely start. For display; no decision uses it."""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify, heappop, heapreplace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.fit.node_fit import fits
from tarmac.core.forecast.expected_end import NO_PROGRESS
from tarmac.core.forecast.gpu_availability import NOTHING, opening_on, slots_of
from tarmac.core.forecast.held_back import HeldBack, goes_before
from tarmac.core.limits import gpus_asked
from tarmac.core.model.status import Queued
from tarmac.core.policy.eligibility import gate
from tarmac.core.policy.order.order import Score, owner_score
from tarmac.core.policy.order.own_order import in_own_order
from tarmac.core.policy.order.starvation import starved_jobs
from tarmac.core.queue.queue import turn_of
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.forecast.expected_end import Progress
    from tarmac.core.forecast.gpu_availability import Opening
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.plan import RestsOn
    from tarmac.core.queue.queue import Turn
    from tarmac.core.state import State

MOST_LINED_UP = 1000
MOST_LOOKS = 20_000  # jobs times nodes that are planned ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    start_at: float
    rests_on: frozenset[RestsOn]  # empty: on what is free now


def line_up(state: State, now: float, most: int = MOST_LINED_UP) -> list[JobId]:
    """The first waiting jobs in the order they will be tried if nothing changes: an overdue job, then by turn."""
    classes: dict[str, list[list[Job]]] = {}
    for klass in state.queue.classes.values():
        classes.setdefault(klass.owner, []).append([state.jobs[job] for job in klass.walk_heap(most)])
    lines = {owner: _Line(state, own) for owner, own in classes.items()}
    heap = [(_key(state, owner, line.earliest(), now, 0.0), owner) for owner, line in lines.items()]
    heapify(heap)
    found: list[JobId] = []
    while heap and len(found) < most:
        owner = heap[0][1]
        line = lines[owner]
        found.append(line.take())
        if line:
            heapreplace(heap, (_key(state, owner, line.earliest(), now, line.gpus), owner))
        else:
            heappop(heap)
    overdue = (job.id for job in starved_jobs(state, now) if gate(state, job, now) is None)
    return list(dict.fromkeys([*islice(overdue, 1), *found]))[:most]


class _Line:
    """The first jobs of one owner, in their own order."""

    def __init__(self, state: State, classes: list[list[Job]]) -> None:
        self.gpus = 0.0  # of the jobs taken so far
        self._jobs = in_own_order(state, classes, state.queue.moved)
        self._turns = sorted((turn_of(job) for own in classes for job in own), reverse=True)  # of jobs that are left
        self._taken: set[JobId] = set()

    def __bool__(self) -> bool:
        return bool(self._turns)

    def earliest(self) -> Turn:
        """The turn of the job with the first position: the owner's place depends on it."""
        return self._turns[-1]

    def take(self) -> JobId:
        """The next job."""
        job = next(self._jobs)
        self.gpus += gpus_asked(job.spec)
        self._taken.add(job.id)
        while self._turns and self._turns[-1].job in self._taken:
            self._turns.pop()
        return job.id


def position_of(state: State, job: Job, now: float) -> int:
    """Its place in the queue, from 1. Beyond the first thousand it is an approximation by rank."""
    line = line_up(state, now)
    if job.id in line:
        return line.index(job.id) + 1
    tier = turn_of(job).tier
    ahead = 0
    for klass in state.queue.classes.values():
        if klass.key.tier < tier:
            ahead += len(klass.waiting)
        elif klass.key.tier == tier:
            ahead += sum(map(job.rank.__gt__, klass.waiting.values()))  # no Python per job: they may be a million
    return ahead + 1


def estimates(
    state: State, now: float, progress: Progress = NO_PROGRESS, new: Job | None = None
) -> dict[JobId, Estimate]:
    """Plan the queue ahead on known ends. Jobs whose start cannot be estimated are left out.

    `new`: a job that is not in the state, or another version of one that waits, planned as if it were there.
    """
    if state.mode.is_paused:
        return {}
    most = max(10, min(MOST_LINED_UP // 2, MOST_LOOKS // max(1, len(state.nodes))))
    openings = _Openings(state, now, progress, new)
    found: dict[JobId, Estimate] = {}
    not_before, awaited = now, NOTHING
    planned = openings.held_back.first_jobs()
    for job in _in_line(state, dict.fromkeys([*planned, *line_up(state, now, most)]), most, new):
        number = job.id
        if not job.spec.request.gpus or gate(state, job, now) is not None:
            continue
        opening = openings.first(job, not_before)
        if opening is None:
            continue
        if opening.at < inf:
            rests_on = opening.rests_on | awaited if opening.at <= not_before else opening.rests_on
            found[number] = Estimate(start_at=opening.at, rests_on=rests_on)
            openings.take(job, opening)
        if not state.rules.is_backfilling and opening.at > not_before:
            not_before, awaited = opening.at, opening.rests_on  # without backfill no later job starts earlier
    for job, begin_at in _delayed_jobs(state, now, new)[:most]:
        if gate(state, job, now) is None:
            estimate = _start_from(state, job, max(begin_at, not_before), openings)
            found |= {} if estimate is None else {job.id: estimate}
    return found


def _in_line(state: State, numbers: Iterable[JobId], most: int, new: Job | None) -> list[Job]:
    """The jobs, with the new one at its turn: before those of its owner (under fifo, of anybody) that come later."""
    jobs = [state.jobs[number] for number in numbers if new is None or number != new.id]
    if new is None or new.not_before is not None or not all(after.is_met for after in new.spec.after):
        return jobs
    place = next((place for place, job in enumerate(jobs) if goes_before(state, new, job)), len(jobs))
    return jobs if place >= most else [*jobs[:place], new, *jobs[place:]]


class _Openings:
    """When GPUs come free, as far as that is known, and which are held back. Estimated jobs take theirs, one by one."""

    def __init__(self, state: State, now: float, progress: Progress, new: Job | None) -> None:
        self._state, self._progress = state, progress
        self.nodes = [node for node in state.nodes.values() if node.takes_jobs]
        self._slots = {node.name: slots_of(state, node, now, progress) for node in self.nodes}
        self.held_back = HeldBack(state, now, new)

    def first(self, job: Job, not_before: float) -> Opening | None:
        openings = (
            opening_on(self._state, node, job, self._slots[node.name], not_before, self.held_back, self._progress)
            for node in self.nodes
            if job.spec.request.allows(node.name)
        )
        found = (one for one in openings if one is not None)
        if job.spec.request.node_count > 1:
            return self._first_on_several(job, list(found))
        return min(found, key=lambda one: one.at, default=None)

    def _first_on_several(self, job: Job, openings: list[Opening]) -> Opening | None:
        """When the last of the nodes that it needs is free. The others are free from then on, as far as is known."""
        first = sorted(openings, key=lambda one: one.at)[: job.spec.request.node_count]
        if len(first) < job.spec.request.node_count:
            return None
        last, rests_on = first[-1], NOTHING.union(*(one.rests_on for one in first))
        others = tuple(replace(one, at=last.at) for one in first[:-1])
        return replace(last, rests_on=rests_on, others=others)

    def take(self, job: Job, opening: Opening) -> None:
        """Take its GPUs until the job would end; for good if its end is not known.

        Before a planned start there is a gap, for jobs that would not delay it.
        """
        self.held_back.release_at(job.id, opening.at)
        planned = self.held_back.gpus_of(job.id)
        expected = self._state.runtimes.expected_s(job.spec)
        own: RestsOn = "limit" if job.spec.time_limit_s is not None else "history"
        for one in (opening, *opening.others):
            self._slots[one.node] += [
                replace(slot, until=one.at) for slot in one.slots if slot.gpu in planned and slot.at < one.at
            ]
            for slot in one.slots:
                slot.at = inf if expected is None else one.at + expected
                slot.rests_on = opening.rests_on | {own}


def _delayed_jobs(state: State, now: float, new: Job | None) -> list[tuple[Job, float]]:
    """Jobs that wait for their begin time alone, by that time."""
    found = [
        (job, job.not_before)
        for job in ({**state.blocked, new.id: new} if new is not None else state.blocked).values()
        if job.not_before is not None
        and job.not_before > now
        and job.spec.owner not in state.suspended
        and all(after.is_met for after in job.spec.after)
    ]
    return sorted(found, key=lambda one: (one[1], one[0].id))


def _is_retry(job: Job, begin_at: float) -> bool:
    """True if the job waits between two attempts, not for its begin time."""
    return isinstance(job.status, Queued) and job.status.retry_at == begin_at


def _start_from(state: State, job: Job, begin_at: float, openings: _Openings) -> Estimate | None:
    if begin_at == inf:
        return None
    awaited: frozenset[RestsOn] = frozenset({"retry" if _is_retry(job, begin_at) else "begin"})
    if not job.spec.request.gpus:
        has_room = (
            sum(fits(node, job.spec.request, state.rules) for node in openings.nodes) >= job.spec.request.node_count
        )
        return Estimate(start_at=begin_at, rests_on=awaited) if has_room else None
    opening = openings.first(job, begin_at)
    if opening is None or opening.at == inf:
        return None
    openings.take(job, opening)
    basis = awaited if opening.at <= begin_at else frozenset()
    return Estimate(start_at=opening.at, rests_on=opening.rests_on | basis)


def _key(
    state: State, owner: str, turn: Turn, now: float, more: float
) -> tuple[int, Score | tuple[int, float], float, int]:
    tier, priority, position, job = turn
    if state.rules.policy == "fifo":
        return (tier, (priority, position), 0.0, job)
    group, points = owner_score(state, owner, now)
    share = state.rules.shares(owner)
    if state.rules.policy == "balance" and share:
        points += more / abs(share)
    return (tier, (group, points), state.jobs[job].submitted_at, job)
