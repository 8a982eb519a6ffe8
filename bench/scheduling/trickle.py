"""A wide job among a trickle of 1-GPU jobs without time limits: it must not starve, and GPUs must not idle for it."""

from collections.abc import Iterator
from itertools import count
from math import log
from random import Random

from bench.figures import Figure
from bench.scheduling.grid import BALANCE, FIFO
from bench.scheduling.reference.cluster import Job
from bench.scheduling.schedule import Schedule, by_core
from bench.scheduling.workload import GPUS_PER_NODE

SEEDS = (1, 2, 3, 4, 5)
HOUR_S = 3600.0
LASTS_S = 400 * HOUR_S
MEDIAN_S, SPREAD, LONGEST_S = HOUR_S, 1.2, 12 * HOUR_S
GAP_S = 1.9 * MEDIAN_S / 6  # keeps 6 GPUs busy: with more, the wide job would wait for its turn as well
WIDE_AT_S = tuple((20 + 60 * number) * HOUR_S for number in range(6))
LONG_S, SHORT_S = 72 * HOUR_S, 600.0  # of the minimal case


def figures() -> Iterator[Figure]:
    for rules in (BALANCE, FIFO):
        ratios = [_starvation(by_core(scene(seed), 1, rules, has_limits=False)) for seed in SEEDS]
        yield Figure(
            what=f"8-GPU job in a trickle, no limits, {rules.policy}: wait ÷ longest run",
            measured=f"{max(ratios):.2f}",
            ratio=max(ratios),
            unit="×",
            must=2,
            aim=1.5,
            note="(seeds: " + ", ".join(f"{ratio:.1f}" for ratio in ratios) + ")",
        )
    minimal = by_core(minimal_case(), 1, BALANCE, has_limits=False)
    yield Figure(
        what="  beside one 72 h job: wait ÷ longest run",
        measured=f"{max(_wide_waits(minimal)) / HOUR_S:.1f} h",
        ratio=max(_wide_waits(minimal)) / LONG_S,
        unit="×",
        must=2,
        aim=1.5,
    )
    short_wait_s = max(wait for job, wait in zip(minimal.jobs, minimal.waits_s(), strict=True) if job.gpus == 1)
    yield Figure(
        what="  beside one 72 h job: longest wait of the 10-minute jobs",
        measured=f"{short_wait_s / HOUR_S:.1f} h",
        ratio=short_wait_s / HOUR_S,
        unit="h",
        must=4,
        aim=2,
    )


def scene(seed: int) -> list[Job]:
    """1-GPU jobs keep most of a node busy; six 8-GPU jobs come one after the other."""
    dice, numbers, jobs, now = Random(seed), count(), [], 0.0
    while now < LASTS_S:
        duration_s = min(LONGEST_S, dice.lognormvariate(log(MEDIAN_S), SPREAD))
        jobs.append(_job(next(numbers), now, "narrow", 1, duration_s))
        now += dice.expovariate(1 / GAP_S)
    return jobs + [_job(next(numbers), at, "wide", GPUS_PER_NODE, HOUR_S) for at in WIDE_AT_S]


def minimal_case() -> list[Job]:
    """One GPU is taken for three days. A job that needs all of them waits, and short jobs keep coming."""
    short = [_job(2 + number, SHORT_S * (1 + number), "short", 1, SHORT_S) for number in range(int(LONG_S / SHORT_S))]
    return [_job(0, 0.0, "long", 1, LONG_S), _job(1, SHORT_S / 2, "wide", GPUS_PER_NODE, HOUR_S), *short]


def _job(number: int, submit_s: float, owner: str, gpus: int, duration_s: float) -> Job:
    return Job(number=number, submit_s=submit_s, owner=owner, gpus=gpus, duration_s=duration_s, limit_s=duration_s)


def _starvation(schedule: Schedule) -> float:
    return max(_wide_waits(schedule)) / max(job.duration_s for job in schedule.jobs)


def _wide_waits(schedule: Schedule) -> list[float]:
    waits = zip(schedule.jobs, schedule.waits_s(), strict=True)
    return [wait for job, wait in waits if job.gpus == GPUS_PER_NODE]
