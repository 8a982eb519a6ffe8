"""Generates a trace with the shape of a real one; the same seed gives the same jobs.

People submit batches of similar jobs, more of them by day and on busy days. A few owners submit most of the jobs
(Zipf). An owner's next batch often resembles the last one. Durations range over five orders of magnitude: most jobs
are short, and a few long and wide ones do most of the work.
"""

from __future__ import annotations

from itertools import accumulate
from math import ceil, cos, exp, log, pi
from random import Random
from typing import TYPE_CHECKING

from tarmac.core.model.job import Request
from tarmac.records import dataclass
from tarmac.sim.trace import TraceJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.sim.machines import Machine

LOAD = 1.25  # requested GPU-seconds per available one while jobs arrive; above 1, so that a queue forms
OWNERS = (
    "ann", "bob", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "leo", "mia", "ned", "oda", "pia",
)  # fmt: skip
OWNER_SKEW = 1.2  # exponent of the Zipf distribution of batches over owners

MOST_IN_BATCH, BATCH_TAIL = 200, 0.9  # half of the narrow batches have one or two jobs, a few a hundred
GAP_IN_BATCH_S = 20.0
REPEATED, DRIFT = 0.8, 0.2  # fraction of batches like the owner's last one; how much their lengths differ
DAY_H, DAY_S, HOUR_S = 24, 86400.0, 3600.0
NIGHT = 0.5  # submits by night and by day: 1 - NIGHT and 1 + NIGHT
BUSY_DAYS = 0.7  # spread of the submits per day (log-normal)

SHORTEST_S, LONGEST_S = 10.0, 3 * DAY_S
LONG_TAIL, TAIL = 0.1, 1.0  # fraction of kinds of work that are much longer than usual, and the exponent (Pareto)
LIKENESS = 0.15  # spread of durations within a batch
FAILED = 0.12  # fraction of jobs that end early

UNLIMITED = 0.1  # fraction of jobs without a time limit
FACTOR, FACTOR_SPREAD, LEAST_FACTOR = 2.0, 0.45, 0.95  # the others' limit ÷ duration (log-normal); a few are too short


@dataclass(frozen=True, slots=True)
class Width:
    often: int  # per cent of batches
    median_s: float
    spread: float


WIDTHS = {1: Width(66, 900.0, 1.8), 2: Width(12, 1800.0, 1.8), 4: Width(12, 10800.0, 1.6), 8: Width(10, 21600.0, 1.5)}


@dataclass(frozen=True, slots=True)
class Work:
    """What an owner is working on."""

    gpus: int
    typical_s: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Similar jobs that one owner submits together."""

    owner: str
    gpus: int
    durations: tuple[float, ...]


def made_up(jobs: int, machines: Sequence[Machine], seed: int) -> list[TraceJob]:
    dice = Random(seed)
    batches = list(_batches(jobs, max(machine.gpu_count for machine in machines), dice))
    work = sum(batch.gpus * sum(batch.durations) for batch in batches)
    lasts_s = work / sum(machine.gpu_count for machine in machines) / LOAD
    requests = {gpus: Request(gpus=gpus) for gpus in WIDTHS}
    trace = [
        TraceJob(
            submit_s=min(submit_s, round(lasts_s, 1)),
            owner=batch.owner,
            request=requests[batch.gpus],
            duration_s=duration_s,
            limit_s=_limit_s(duration_s, dice),
        )
        for batch, begins_s in zip(batches, _moments(len(batches), lasts_s, dice), strict=True)
        for submit_s, duration_s in zip(_submits(begins_s, dice), batch.durations, strict=False)
    ]
    return sorted(trace, key=lambda job: job.submit_s)


def _batches(jobs: int, widest: int, dice: Random) -> Iterator[Batch]:
    """Batches with this many jobs in total, on nodes with up to `widest` GPUs."""
    often = [1 / rank**OWNER_SKEW for rank in range(1, len(OWNERS) + 1)]
    works: dict[str, Work] = {}
    while jobs:
        (owner,) = dice.choices(OWNERS, often)
        last = works.get(owner)
        work = works[owner] = _new_work(widest, dice) if last is None or dice.random() > REPEATED else _like(last, dice)
        size = min(jobs, MOST_IN_BATCH, ceil(dice.paretovariate(BATCH_TAIL) / work.gpus))
        yield Batch(owner, work.gpus, tuple(_duration_s(work, dice) for _ in range(size)))
        jobs -= size


def _new_work(widest: int, dice: Random) -> Work:
    widths = {gpus: width.often for gpus, width in WIDTHS.items() if gpus <= widest}
    (gpus,) = dice.choices(list(widths), list(widths.values()))
    typical_s = dice.lognormvariate(log(WIDTHS[gpus].median_s), WIDTHS[gpus].spread)
    if dice.random() < LONG_TAIL:
        typical_s *= dice.paretovariate(TAIL)
    return Work(gpus, min(LONGEST_S, typical_s))


def _like(work: Work, dice: Random) -> Work:
    return Work(work.gpus, min(LONGEST_S, work.typical_s * exp(dice.gauss(0.0, DRIFT))))


def _duration_s(work: Work, dice: Random) -> float:
    """Close to that of the others in the batch, unless the job fails."""
    part = dice.random() ** 2 if dice.random() < FAILED else exp(dice.gauss(0.0, LIKENESS))
    return round(min(LONGEST_S, max(SHORTEST_S, work.typical_s * part)), 1)


def _moments(count: int, lasts_s: float, dice: Random) -> list[float]:
    """When batches are submitted, in order."""
    hours = range(max(1, ceil(lasts_s / HOUR_S)))
    busy = [dice.lognormvariate(0.0, BUSY_DAYS) for _ in range(len(hours) // DAY_H + 1)]
    often = [busy[hour // DAY_H] * (1 - NIGHT * cos(2 * pi * hour / DAY_H)) for hour in hours]
    return sorted(min(lasts_s, (hour + dice.random()) * HOUR_S) for hour in dice.choices(hours, often, k=count))


def _submits(begins_s: float, dice: Random) -> Iterator[float]:
    """The submits of a batch, one after the other."""
    gaps = iter(lambda: dice.expovariate(1 / GAP_IN_BATCH_S), None)
    return (round(moment, 1) for moment in accumulate(gaps, initial=begins_s))


def _limit_s(duration_s: float, dice: Random) -> float | None:
    """A time limit in whole seconds; None for some jobs."""
    if dice.random() < UNLIMITED:
        return None
    return float(ceil(duration_s * max(LEAST_FACTOR, dice.lognormvariate(log(FACTOR), FACTOR_SPREAD))))
