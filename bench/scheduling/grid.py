"""Every scheduler in every setting: clusters × loads × windows of a trace. Computed on all cores."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import NamedTuple

from bench.scheduling.reference.cluster import Job
from bench.scheduling.reference.easy import Easy
from bench.scheduling.reference.fifo import Fifo
from bench.scheduling.reference.max_min import MaxMin
from bench.scheduling.reference.sjf import ShortestFirst
from bench.scheduling.schedule import Schedule, by_core, by_reference
from bench.scheduling.workload import GPUS_PER_NODE, at_load, windows
from tarmac.core.model.rules import Rules

LOADS = (0.7, 0.9, 1.1)
WINDOWS = 4
WINDOW_JOBS = {1: 2_000, 4: 3_000}  # by number of nodes: a larger cluster needs more jobs until a queue forms

SCHEDULERS: dict[str, Callable[[Sequence[Job], int], Schedule]] = {
    "plain FIFO": lambda jobs, nodes: by_reference(jobs, nodes, Fifo),
    "EASY": lambda jobs, nodes: by_reference(jobs, nodes, Easy),
    "max-min": lambda jobs, nodes: by_reference(jobs, nodes, MaxMin),
    "SJF": lambda jobs, nodes: by_reference(jobs, nodes, ShortestFirst),
    "fifo, limits": lambda jobs, nodes: by_core(jobs, nodes, FIFO, has_limits=True),
    "fifo, none": lambda jobs, nodes: by_core(jobs, nodes, FIFO, has_limits=False),
    "balance, limits": lambda jobs, nodes: by_core(jobs, nodes, BALANCE, has_limits=True),
    "balance, none": lambda jobs, nodes: by_core(jobs, nodes, BALANCE, has_limits=False),
    "order = expected": lambda jobs, nodes: by_core(jobs, nodes, EXPECTED, has_limits=True),
    "order = expected, none": lambda jobs, nodes: by_core(jobs, nodes, EXPECTED, has_limits=False),
}
FIFO = Rules(policy="fifo", suspend_after_failures=0, drain_node_after_failures=0)
BALANCE = Rules(policy="balance", suspend_after_failures=0, drain_node_after_failures=0)
EXPECTED = Rules(policy="balance", order="expected", suspend_after_failures=0, drain_node_after_failures=0)


class Setting(NamedTuple):
    nodes: int
    window: int
    load: float

    def __str__(self) -> str:
        return f"{self.nodes}×{GPUS_PER_NODE}, window {self.window + 1}, load {self.load}"


class Result(NamedTuple):
    mean_wait_s: float
    utilization: float


@dataclass(slots=True)
class Grid:
    """Results by setting and scheduler, computed when they are first wanted."""

    trace: Sequence[Job]
    results: dict[tuple[Setting, str], Result] = field(default_factory=dict)

    def settings(self, *node_counts: int) -> list[Setting]:
        return [Setting(n, window, load) for n in node_counts for window in range(WINDOWS) for load in LOADS]

    def compute(self, settings: Iterable[Setting], schedulers: Iterable[str]) -> None:
        wanted = [(one, name) for one in settings for name in schedulers if (one, name) not in self.results]
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            futures = {pool.submit(_result, self._jobs(one), one.nodes, name): (one, name) for one, name in wanted}
            for future in as_completed(futures):
                self.results[futures[future]] = result = future.result()
                setting, name = futures[future]
                wait_h, percent = result.mean_wait_s / 3600, 100 * result.utilization
                print(f"    {setting}: {name}: {wait_h:.2f} h, {percent:.1f} % in use", file=sys.stderr, flush=True)

    def wait_ratio(self, setting: Setting, scheduler: str, other: str) -> float:
        """Mean wait ÷ mean wait. Less than a second counts as a second, because there may be no queue."""
        wait_s, other_s = (max(1.0, self.results[setting, name].mean_wait_s) for name in (scheduler, other))
        return wait_s / other_s

    def _jobs(self, setting: Setting) -> list[Job]:
        window = windows(self.trace, WINDOWS, WINDOW_JOBS[setting.nodes])[setting.window]
        return at_load(window, setting.nodes, setting.load)


def _result(jobs: Sequence[Job], nodes: int, scheduler: str) -> Result:
    schedule = SCHEDULERS[scheduler](jobs, nodes)
    return Result(schedule.mean_wait_s, schedule.utilization)
