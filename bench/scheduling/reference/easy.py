"""EASY backfill (Lifka 1995): the first job that does not fit gets a planned start. Later jobs may not delay it."""

from collections.abc import Iterator, Sequence

from bench.scheduling.reference.cluster import Cluster, Job, Place, Plan


class Easy:
    """In the order of submits. Subclasses may order and expect differently."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.queue: list[Job] = []

    def submitted(self, jobs: Sequence[Job]) -> None:
        self.queue += jobs

    def ended(self, job: Job) -> None:
        pass

    def expected_s(self, job: Job) -> float:
        return job.limit_s

    def starts(self, now: float) -> Iterator[tuple[Job, Place]]:
        yield from self._in_order(now)
        if not self.queue or not any(self.cluster.free):
            return
        last, plan = None, self.cluster.plan(self.queue[0].gpus)
        while plan != last:  # a start beside the plan may change its GPUs
            yield from self._backfill(plan, now)
            last, plan = plan, self.cluster.plan(self.queue[0].gpus)

    def _in_order(self, now: float) -> Iterator[tuple[Job, Place]]:
        while self.queue and (place := self.cluster.place(self.queue[0].gpus)) is not None:
            yield self._start(self.queue[0], place, now)

    def _backfill(self, plan: Plan, now: float) -> Iterator[tuple[Job, Place]]:
        """Start what ends before the planned start, or fits on other GPUs. Places only become fewer on the way."""
        failed: set[tuple[int, bool]] = set()
        for job in self.queue[1:]:
            if not any(self.cluster.free):
                return
            would_delay = now + self.expected_s(job) > plan.at
            if (job.gpus, would_delay) in failed:
                continue
            place = self.cluster.place(job.gpus, plan if would_delay else None)
            if place is None:
                failed.add((job.gpus, would_delay))
            else:
                yield self._start(job, place, now)

    def _start(self, job: Job, place: Place, now: float) -> tuple[Job, Place]:
        self.queue.remove(job)
        self.cluster.book(job, place, now + self.expected_s(job))
        return job, place
