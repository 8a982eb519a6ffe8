"""An owner of 8-GPU jobs comes to a cluster full of another owner's 1-GPU jobs. Half of the GPUs are due to each."""

from collections.abc import Iterator, Sequence
from itertools import count
from math import log
from random import Random

from bench.clock import median
from bench.figures import Figure
from bench.scheduling.grid import BALANCE
from bench.scheduling.reference.cluster import Job
from bench.scheduling.schedule import Schedule, by_core
from bench.scheduling.workload import GPUS_PER_NODE

NODES = 16
SEEDS = (1, 2, 3)
HOUR_S = 3600.0
COMES_S = 12 * HOUR_S
LATER_H = 9
NARROW_JOBS = NODES * GPUS_PER_NODE * 45  # enough for the whole time
WIDE_JOBS = NODES * 6
NARROW_MEDIAN_S, NARROW_SPREAD, NARROW_LONGEST_S = 0.5 * HOUR_S, 1.2, 4 * HOUR_S
WIDE_MEDIAN_S, WIDE_SPREAD, WIDE_LONGEST_S = 2 * HOUR_S, 1.0, 24 * HOUR_S
LIMIT_FACTORS = (1.1, 3.0)


def figures() -> Iterator[Figure]:
    schedules = [by_core(scene(seed), NODES, BALANCE, has_limits=True) for seed in SEEDS]
    parts = [100 * part_of_wide(schedule, COMES_S + LATER_H * HOUR_S) for schedule in schedules]
    yield Figure(
        what=f"owner of wide jobs, {NODES}×{GPUS_PER_NODE}, part after {LATER_H} h (50 % due)",
        measured=f"{median(parts):.0f} %",
        ratio=median(parts),
        unit="%",
        must=40,
        aim=45,
        more_is_better=True,
        note=f"({len(SEEDS)} seeds: {min(parts):.0f}–{max(parts):.0f})",
    )
    lowest = 100 * min(in_use for schedule in schedules for in_use in hourly_use(schedule))
    yield Figure(
        what="  its cost: GPUs in use, lowest hour",
        measured=f"{lowest:.1f} %",
        ratio=lowest,
        unit="%",
        must=96,
        aim=97,
        more_is_better=True,
    )


def scene(seed: int) -> list[Job]:
    dice, numbers = Random(seed), count()

    def job(owner: str, gpus: int, submit_s: float, median_s: float, spread: float, longest_s: float) -> Job:
        duration_s = min(longest_s, dice.lognormvariate(log(median_s), spread))
        limit_s = duration_s * dice.uniform(*LIMIT_FACTORS)
        return Job(
            number=next(numbers), submit_s=submit_s, owner=owner, gpus=gpus, duration_s=duration_s, limit_s=limit_s
        )

    narrow = (NARROW_MEDIAN_S, NARROW_SPREAD, NARROW_LONGEST_S)
    wide = (WIDE_MEDIAN_S, WIDE_SPREAD, WIDE_LONGEST_S)
    return [
        *(job("narrow", 1, 0.0, *narrow) for _ in range(NARROW_JOBS)),
        *(job("wide", GPUS_PER_NODE, COMES_S, *wide) for _ in range(WIDE_JOBS)),
    ]


def part_of_wide(schedule: Schedule, moment: float) -> float:
    """The fraction of all GPUs that the owner of wide jobs has at this moment."""
    held = sum(
        job.gpus
        for job, start in zip(schedule.jobs, schedule.starts, strict=True)
        if job.owner == "wide" and start <= moment < start + job.duration_s
    )
    return held / (NODES * GPUS_PER_NODE)


def hourly_use(schedule: Schedule) -> Sequence[float]:
    hours = (COMES_S + hour * HOUR_S for hour in range(LATER_H))
    return [schedule.in_use(since, since + HOUR_S) for since in hours]
