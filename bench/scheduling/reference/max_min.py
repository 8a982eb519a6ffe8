"""Max-min sharing with EASY backfill: the owner with the fewest GPUs goes first, then that owner's oldest job.

The first job that does not fit gets a planned start. Later jobs may not delay it.
"""

from collections.abc import Generator, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import TypeAlias

from bench.scheduling.reference.cluster import Cluster, Job, Place, Plan

Start: TypeAlias = tuple[Job, Place]


class MaxMin:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.waiting: dict[str, list[Job]] = {}
        self.used: dict[str, int] = {}

    def submitted(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.waiting.setdefault(job.owner, []).append(job)

    def ended(self, job: Job) -> None:
        self.used[job.owner] -= job.gpus

    def starts(self, now: float) -> Iterator[Start]:
        """A start beside the plan changes whose turn it is, and with that the plan. Repeat until none is left."""
        is_settled = not any(self.cluster.free)
        while not is_settled:
            stuck = yield from self._in_order(now)
            if stuck is None:
                return
            is_settled = not (yield from self._backfill(self.cluster.plan(stuck.gpus), now))

    def _in_order(self, now: float) -> Generator[Start, None, Job | None]:
        """Start jobs in turn; return the first that does not fit."""
        turns = Turns(self.waiting, self.used)
        while (job := turns.first()) is not None:
            place = self.cluster.place(job.gpus)
            if place is None:
                return job
            yield self._start(job, place, now)
            turns.go_on()
        return None

    def _backfill(self, plan: Plan, now: float) -> Generator[Start, None, bool]:
        """Start what ends before the planned start, or fits on other GPUs; return whether anything started."""
        turns, has_started = Turns(self.waiting, self.used), False
        failed: set[tuple[int, bool]] = set()  # within a pass, places only become fewer
        while any(self.cluster.free) and (job := turns.first()) is not None:
            would_delay = now + job.limit_s > plan.at
            kind = (job.gpus, would_delay)
            place = None if kind in failed else self.cluster.place(job.gpus, plan if would_delay else None)
            if place is None:
                failed.add(kind)
            else:
                yield self._start(job, place, now)
                has_started = True
            turns.go_on()
        return has_started

    def _start(self, job: Job, place: Place, now: float) -> Start:
        self.waiting[job.owner].remove(job)
        if not self.waiting[job.owner]:
            del self.waiting[job.owner]
        self.used[job.owner] = self.used.get(job.owner, 0) + job.gpus
        self.cluster.book(job, place, now + job.limit_s)
        return job, place


class Turns:
    """The waiting jobs, the owner with the fewest GPUs first; among equal owners, the one with the older job."""

    def __init__(self, waiting: dict[str, list[Job]], used: dict[str, int]) -> None:
        self.used = used
        self.own = {owner: list(jobs) for owner, jobs in waiting.items()}
        self.next = dict.fromkeys(waiting, 0)
        self.heap = [self._key(owner) for owner in waiting]
        heapify(self.heap)

    def first(self) -> Job | None:
        return self._job(self.heap[0][-1]) if self.heap else None

    def go_on(self) -> None:
        """The first job was started or set aside. Its owner's next job may not be the next in turn."""
        owner = self.heap[0][-1]
        self.next[owner] += 1
        if self.next[owner] < len(self.own[owner]):
            heapreplace(self.heap, self._key(owner))
        else:
            heappop(self.heap)

    def _job(self, owner: str) -> Job:
        return self.own[owner][self.next[owner]]

    def _key(self, owner: str) -> tuple[int, float, int, str]:
        job = self._job(owner)
        return (self.used.get(owner, 0), job.submit_s, job.number, owner)
