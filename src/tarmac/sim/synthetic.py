"""Generates a trace like that of a busy machine; the same seed gives the same jobs.

Jobs arrive at random (Poisson), faster than the GPUs can run them. Most are short and a few very long (log-normal);
most request one GPU; a few owners submit most of them (Zipf).
"""

from __future__ import annotations

from itertools import accumulate
from math import ceil, log
from random import Random
from typing import TYPE_CHECKING

from tarmac.core.model.job import Request
from tarmac.sim.trace import TraceJob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.sim.machines import Machine

LOAD = 1.25  # requested GPU-seconds per available one while jobs arrive; above 1, so that a queue forms
OWNERS = ("ann", "bob", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jon")
SIZES = {1: 60, 2: 20, 4: 12, 8: 8}  # GPUs -> per cent of jobs that request them
MEDIAN_S, SPREAD = 1200.0, 1.5  # of durations: half run over 20 minutes, a tenth over two hours
LONGEST_S = 86400.0
UNLIMITED = 0.1  # fraction of jobs without a time limit
LIMITS = (0.95, 4.0)  # the others' limit as a multiple of their duration; a few are too short
LIMIT_STEP_S = 300.0


def made_up(jobs: int, machines: Sequence[Machine], seed: int) -> list[TraceJob]:
    dice = Random(seed)
    widest = max(machine.gpu_count for machine in machines)
    sizes = {gpus: often for gpus, often in SIZES.items() if gpus <= widest}
    gpus = dice.choices(list(sizes), list(sizes.values()), k=jobs)
    durations = [min(LONGEST_S, round(dice.lognormvariate(log(MEDIAN_S), SPREAD), 1)) for _ in range(jobs)]
    owners = dice.choices(OWNERS, [1 / rank for rank in range(1, len(OWNERS) + 1)], k=jobs)
    work = sum(width * duration_s for width, duration_s in zip(gpus, durations, strict=True))
    gap_s = work / jobs / sum(machine.gpu_count for machine in machines) / LOAD
    requests = {width: Request(gpus=width) for width in sizes}
    moments = accumulate(dice.expovariate(1 / gap_s) for _ in range(jobs))
    return [
        TraceJob(
            submit_s=round(moment, 1),
            owner=owner,
            request=requests[width],
            duration_s=duration_s,
            limit_s=_limit_s(duration_s, dice),
        )
        for moment, owner, width, duration_s in zip(moments, owners, gpus, durations, strict=True)
    ]


def _limit_s(duration_s: float, dice: Random) -> float | None:
    """A time limit, rounded up as people do; None for some jobs."""
    if dice.random() < UNLIMITED:
        return None
    return ceil(duration_s * dice.uniform(*LIMITS) / LIMIT_STEP_S) * LIMIT_STEP_S
