"""Indexes over the jobs, so that no event walks all of them. All are derived: `invariants` recomputes and compares."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from heapq import heappush
from typing import TYPE_CHECKING

from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.queue import Suspension
from tarmac.core.model.status import RunName, Running, Starting, Stopping
from tarmac.core.queue.queue import Queue
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.job import JobSpec
    from tarmac.core.queue.queue import RunTimes


@dataclass(slots=True)
class WaitingCounts:
    """How many jobs are queued or held, for limits. Drafts do not count."""

    total: int = 0
    of_owner: Counter[str] = field(default_factory=Counter)
    of_project: Counter[str] = field(default_factory=Counter)

    def add(self, spec: JobSpec, step: int = 1) -> None:
        self.total += step
        self.of_owner[spec.owner] += step
        if spec.project is not None:
            self.of_project[spec.project] += step

    def remove(self, spec: JobSpec) -> None:
        self.add(spec, -1)


@dataclass(slots=True)
class Indexes:
    queue: Queue = field(default_factory=Queue)
    blocked: dict[JobId, Job] = field(default_factory=dict)  # queued, but wait for something besides GPUs
    timers: list[tuple[float, JobId]] = field(default_factory=list)  # a heap of begin times; some may be stale
    dependents: dict[JobId, set[JobId]] = field(default_factory=dict)  # the jobs that wait for a job to end
    stuck_since: dict[JobId, float] = field(default_factory=dict)  # when their turn came and they did not fit
    waiting_counts: WaitingCounts = field(default_factory=WaitingCounts)
    outputs: dict[str, set[JobId]] = field(default_factory=dict)  # the jobs that write to a file their owner chose
    groups: dict[JobId, set[JobId]] = field(default_factory=dict)  # the jobs of each array that hold a booking
    preemptible: set[JobId] = field(default_factory=set)  # run and may be preempted
    stopping: set[JobId] = field(default_factory=set)
    owed: set[JobId] = field(default_factory=set)  # waiting jobs that others are being stopped for
    suspended: dict[str, Suspension] = field(default_factory=dict)  # owners whose jobs do not start
    renamed: dict[tuple[NodeName, RunName], JobId] = field(default_factory=dict)  # attempts with another name there

    @property
    def run_s(self) -> RunTimes | None:
        """How long earlier runs of a job took, if the queue is to be ordered by that."""
        return None

    def enqueue(self, jobs: list[Job], now: float) -> None:
        """Put queued jobs into the queue, or aside where they wait for something other than GPUs."""
        ready: list[Job] = []
        for job in jobs:
            if ready and job.spec is ready[-1].spec and job.status is ready[-1].status:
                ready.append(job)  # a job of the same array
                continue
            begin = job.not_before
            if begin is not None and begin > now:
                heappush(self.timers, (begin, job.id))
                self.blocked[job.id] = job
            elif job.spec.owner in self.suspended or any(not after.is_met for after in job.spec.after):
                self.blocked[job.id] = job
            else:
                ready.append(job)
        self.queue.add_many(ready, self.run_s)

    def dequeue(self, job: Job) -> None:
        self.stuck_since.pop(job.id, None)
        self.owed.discard(job.id)
        if self.blocked.pop(job.id, None) is None:
            self.queue.remove(job)

    def add_dependencies(self, job: Job) -> None:
        for after in job.spec.after:
            if not after.is_met:
                self.dependents.setdefault(after.job, set()).add(job.id)

    def remove_dependencies(self, job: Job) -> None:
        for after in job.spec.after:
            waiting = self.dependents.get(after.job)
            if waiting is not None:
                waiting.discard(job.id)
                if not waiting:
                    del self.dependents[after.job]

    def add_outputs(self, job: Job) -> None:
        for path in job.spec.outputs:
            self.outputs.setdefault(path, set()).add(job.id)

    def remove_outputs(self, job: Job) -> None:
        for path in job.spec.outputs:
            writers = self.outputs.get(path)
            if writers is not None:
                writers.discard(job.id)
                if not writers:
                    del self.outputs[path]

    def add_booked(self, job: Job) -> None:
        """A job that holds a booking. Call again when its status changes."""
        is_at_work = isinstance(job.status, Starting | Running)
        may_be_preempted = is_at_work and job.spec.tier == "preemptible" and not job.spec.is_adopted
        _set_member(self.preemptible, job.id, is_member=may_be_preempted)
        _set_member(self.stopping, job.id, is_member=isinstance(job.status, Stopping))
        if job.group is not None:
            self.groups.setdefault(job.group, set()).add(job.id)

    def remove_booked(self, job: Job) -> None:
        self.preemptible.discard(job.id)
        self.stopping.discard(job.id)
        if job.group is not None:
            booked = self.groups[job.group]
            booked.discard(job.id)
            if not booked:
                del self.groups[job.group]


def _set_member(jobs: set[JobId], job: JobId, *, is_member: bool) -> None:
    if is_member:
        jobs.add(job)
    else:
        jobs.discard(job)
