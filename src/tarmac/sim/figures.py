"""Figures of an outcome: waiting times, GPU use, and fairness between owners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tarmac.sim.fairness import jain, parts_of_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from tarmac.sim.outcome import Outcome
    from tarmac.sim.trace import TraceJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Seconds from submit to start, of jobs that ended. None if there are none."""

    jobs: int
    mean_s: float | None
    median_s: float | None
    p95_s: float | None
    p99_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    utilization: float  # fraction of all GPU-seconds between the first submit and the last end
    fairness: float  # from 1/owners to 1
    makespan_s: float  # from the first submit to the last end
    preemptions: int
    timeouts: int
    refused: int  # jobs that request more than any node has
    unstarted: int  # accepted jobs that never ended
    waits: Waits
    by_gpus: tuple[tuple[int, Waits], ...]  # by requested GPUs, fewest first
    by_owner: tuple[tuple[str, Waits], ...]  # by GPU time, most first
    parts_of_share: dict[str, float]  # by owner: the fraction of the fair share


def figures_of(outcome: Outcome) -> Figures:
    parts = parts_of_share(outcome)
    makespan_s = outcome.ends_at - outcome.begins_at
    offered = outcome.gpus * makespan_s
    ended = [number for number, end in enumerate(outcome.ends) if end is not None]
    by_owner = _grouped(outcome, ended, lambda job: job.owner)
    used = {owner: sum(_gpu_seconds(outcome, number) for number in numbers) for owner, numbers in by_owner.items()}
    by_gpus = _grouped(outcome, ended, lambda job: job.request.gpus)
    return Figures(
        utilization=outcome.gpu_seconds() / offered if offered else 0.0,
        fairness=jain(list(parts.values())),
        makespan_s=makespan_s,
        preemptions=outcome.preemptions,
        timeouts=outcome.timeouts,
        refused=len(outcome.refused),
        unstarted=len(outcome.trace) - len(outcome.refused) - len(ended),
        waits=_waits(outcome, ended),
        by_gpus=tuple((gpus, _waits(outcome, by_gpus[gpus])) for gpus in sorted(by_gpus)),
        by_owner=tuple(
            (owner, _waits(outcome, by_owner[owner])) for owner in sorted(by_owner, key=lambda who: (-used[who], who))
        ),
        parts_of_share=parts,
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest of the sorted values that `percent` of them do not exceed."""
    return values[max(0, -(-percent * len(values) // 100) - 1)]


def waits_of(outcome: Outcome, numbers: Iterable[int]) -> list[float]:
    return sorted(wait for number in numbers if (wait := outcome.wait_s(number)) is not None)


def _waits(outcome: Outcome, numbers: Iterable[int]) -> Waits:
    values = waits_of(outcome, numbers)
    if not values:
        return Waits(jobs=0, mean_s=None, median_s=None, p95_s=None, p99_s=None)
    middle = len(values) // 2
    return Waits(
        jobs=len(values),
        mean_s=sum(values) / len(values),
        median_s=values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2,
        p95_s=percentile(values, 95),
        p99_s=percentile(values, 99),
    )


def _grouped(outcome: Outcome, numbers: Iterable[int], key: Callable[[TraceJob], Any]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = {}
    for number in numbers:
        groups.setdefault(key(outcome.trace[number]), []).append(number)
    return groups


def _gpu_seconds(outcome: Outcome, number: int) -> float:
    start, end = outcome.starts[number], outcome.ends[number]
    assert start is not None
    assert end is not None, "only jobs that ended are counted"
    return (end - start) * outcome.trace[number].weight
