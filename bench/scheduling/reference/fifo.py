"""Plain first in, first out: no job starts before one that was submitted earlier."""

from collections import deque
from collections.abc import Iterator, Sequence

from bench.scheduling.reference.cluster import Cluster, Job, Place


class Fifo:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.queue: deque[Job] = deque()

    def submitted(self, jobs: Sequence[Job]) -> None:
        self.queue.extend(jobs)

    def ended(self, job: Job) -> None:
        pass

    def starts(self, now: float) -> Iterator[tuple[Job, Place]]:
        while self.queue and (place := self.cluster.place(self.queue[0].gpus)) is not None:
            job = self.queue.popleft()
            self.cluster.book(job, place, now + job.limit_s)
            yield job, place
