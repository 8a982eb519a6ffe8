"""Plays jobs through a reference scheduler. At any one time ends come before submits, and all submits come together."""

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import groupby
from typing import Protocol

from bench.scheduling.reference.cluster import Cluster, Job, Place


class Scheduler(Protocol):
    def submitted(self, jobs: Sequence[Job]) -> None: ...

    def ended(self, job: Job) -> None: ...

    def starts(self, now: float) -> Iterator[tuple[Job, Place]]:
        """The jobs that start now. Each is already booked."""
        ...


def start_times(
    jobs: Sequence[Job], nodes: int, scheduler: Callable[[Cluster], Scheduler], gpus_per_node: int = 8
) -> list[float]:
    """When each job starts, by its place in `jobs`."""
    cluster = Cluster(nodes, gpus_per_node)
    return _Replay(jobs, cluster, scheduler(cluster)).play()


class _Replay:
    def __init__(self, jobs: Sequence[Job], cluster: Cluster, scheduler: Scheduler) -> None:
        self.jobs = jobs
        self.cluster = cluster
        self.scheduler = scheduler
        self.started: dict[int, float] = {}
        self.ends: list[tuple[float, int, Job]] = []  # a heap; among equal ends, the job that started first is first

    def play(self) -> list[float]:
        for submit_s, together in groupby(sorted(self.jobs, key=_submit_s), key=_submit_s):
            self.end_jobs(until=submit_s)
            self.scheduler.submitted(list(together))
            self.start_jobs(submit_s)
        self.end_jobs(until=None)
        return [self.started[job.number] for job in self.jobs]

    def end_jobs(self, until: float | None) -> None:
        while self.ends and (until is None or self.ends[0][0] <= until):
            now, _, job = heappop(self.ends)
            self.cluster.release(job)
            self.scheduler.ended(job)
            self.start_jobs(now)

    def start_jobs(self, now: float) -> None:
        for job, _ in self.scheduler.starts(now):
            heappush(self.ends, (now + job.duration_s, len(self.started), job))
            self.started[job.number] = now


def _submit_s(job: Job) -> float:
    return job.submit_s
