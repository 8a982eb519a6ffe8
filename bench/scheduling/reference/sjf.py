"""Shortest job first, by an oracle: the scheduler knows how long each job will run."""

from collections.abc import Sequence

from bench.scheduling.reference.cluster import Job
from bench.scheduling.reference.easy import Easy


class ShortestFirst(Easy):
    """With the planned start of EASY for the shortest job that does not fit."""

    def submitted(self, jobs: Sequence[Job]) -> None:
        super().submitted(jobs)
        self.queue.sort(key=lambda job: (job.duration_s, job.number))

    def expected_s(self, job: Job) -> float:
        return job.duration_s
