"""A schedule: when each job started. Made by the core or by a reference scheduler, with its figures."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.scheduling.reference.cluster import Cluster, Job
from bench.scheduling.reference.replay import Scheduler, start_times
from bench.scheduling.workload import GPUS_PER_NODE, nodes
from tarmac.core.model.rules import Rules
from tarmac.sim.trace import TraceJob, trace_job
from tarmac.sim.world import simulate


@dataclass(frozen=True, slots=True)
class Schedule:
    jobs: Sequence[Job]
    node_count: int
    starts: Sequence[float]

    @property
    def mean_wait_s(self) -> float:
        return sum(self.waits_s()) / len(self.jobs)

    def waits_s(self) -> list[float]:
        return [start - job.submit_s for job, start in zip(self.jobs, self.starts, strict=True)]

    @property
    def utilization(self) -> float:
        """The fraction of GPU time in use until the last submit."""
        until = max(job.submit_s for job in self.jobs)
        return self.in_use(0.0, until)

    def in_use(self, since: float, until: float) -> float:
        """The fraction of GPU time in use in an interval."""
        used = sum(
            job.gpus * max(0.0, min(start + job.duration_s, until) - max(start, since))
            for job, start in zip(self.jobs, self.starts, strict=True)
        )
        return used / (until - since) / (self.node_count * GPUS_PER_NODE)


def by_reference(jobs: Sequence[Job], node_count: int, scheduler: Callable[[Cluster], Scheduler]) -> Schedule:
    return Schedule(jobs, node_count, start_times(jobs, node_count, scheduler, GPUS_PER_NODE))


def by_core(jobs: Sequence[Job], node_count: int, rules: Rules, *, has_limits: bool) -> Schedule:
    gc.disable()  # as the simulator does: nothing makes reference cycles
    try:
        outcome = simulate([_trace_job(job, has_limits=has_limits) for job in jobs], nodes(node_count), rules)
    finally:
        gc.enable()
    starts = [start for start in outcome.starts if start is not None]
    assert len(starts) == len(jobs), "every job fits on a node"
    return Schedule(jobs, node_count, starts)


def _trace_job(job: Job, *, has_limits: bool) -> TraceJob:
    return trace_job(
        submit_s=job.submit_s,
        owner=job.owner,
        gpus=job.gpus,
        duration_s=job.duration_s,
        limit_s=job.limit_s if has_limits else None,
    )
