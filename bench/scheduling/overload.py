"""The speed of the simulator on a large cluster with far more jobs than it can run, so that a long queue forms."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from bench.figures import Figure
from bench.scheduling.grid import BALANCE
from bench.scheduling.schedule import by_core
from bench.scheduling.workload import GPUS_PER_NODE, at_load, synthetic_jobs

JOBS, NODES, LOAD = 100_000, 1_000, 4.0


def figures() -> Iterator[Figure]:
    """With and without time limits, at the same time on two cores."""
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        limits_s, none_s = pool.map(simulated_s, (True, False))
    yield Figure(
        what=f"simulate {JOBS:,} jobs, overloaded {LOAD:g}×, {NODES:,}×{GPUS_PER_NODE}",
        measured=f"{limits_s:.0f} s with limits, {none_s:.0f} s without",
        ratio=max(limits_s, none_s),
        unit="s",
        must=90,
        aim=60,
    )


def simulated_s(has_limits: bool) -> float:  # noqa: FBT001 - called by a pool
    """CPU seconds."""
    jobs = at_load(synthetic_jobs(JOBS), NODES, LOAD)
    started_s = time.process_time()
    by_core(jobs, NODES, BALANCE, has_limits=has_limits)
    return time.process_time() - started_s
