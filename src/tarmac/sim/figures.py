"""Figures of an outcome: waits, slowdowns, GPU use, and fairness between owners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.records import dataclass
from tarmac.sim.fairness import jain, sharing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from tarmac.sim.fairness import Sharing
    from tarmac.sim.outcome import Outcome
    from tarmac.sim.trace import TraceJob

    Group: TypeAlias = Callable[["Figures"], "Waits"]  # the waits of some of the jobs

SHORTEST_RUN_S = 10.0  # for slowdowns: jobs that end at once would have huge ones after any wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Seconds from submit to start, and bounded slowdowns, of jobs that ended. None if no job ended."""

    jobs: int = 0
    mean_s: float | None = None
    median_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    mean_slowdown: float | None = None
    p95_slowdown: float | None = None

    def relative_to(self, other: Waits) -> float | None:
        """The mean wait as a multiple of another one; None if that is zero."""
        if self.mean_s is None or other.mean_s is None:
            return None
        if not other.mean_s:
            return None if self.mean_s else 1.0
        return self.mean_s / other.mean_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    utilization: float  # fraction of all GPU-seconds between the first submit and the last end
    idle_part: float  # fraction of the same that was idle while a job waited for GPUs
    fairness: float  # from 1/owners to 1
    sharing: Sharing
    makespan_s: float  # from the first submit to the last end
    preemptions: int
    timeouts: int
    refused: int  # jobs that request more than any node has
    unstarted: int  # accepted jobs that never ended
    waits: Waits
    by_gpus: dict[int, Waits]  # by requested GPUs, fewest first
    by_owner: dict[str, Waits]  # by GPU time, most first

    @property
    def short_part(self) -> float:
        """What owners lacked to their fair shares, as a fraction of these."""
        return self.sharing.short / self.sharing.due if self.sharing.due else 0.0


def of_all(figures: Figures) -> Waits:
    return figures.waits


def of_size(gpus: int) -> Group:
    return lambda figures: figures.by_gpus.get(gpus, Waits())


def of_owner(owner: str) -> Group:
    return lambda figures: figures.by_owner.get(owner, Waits())


def figures_of(outcome: Outcome) -> Figures:
    sharing = sharing_of(outcome)
    makespan_s = outcome.ends_at - outcome.begins_at
    offered = outcome.gpus * makespan_s
    ended = [number for number, end in enumerate(outcome.ends) if end is not None]
    by_owner = _grouped(outcome, ended, lambda job: job.owner)
    used = {owner: sum(_gpu_seconds(outcome, number) for number in numbers) for owner, numbers in by_owner.items()}
    by_gpus = _grouped(outcome, ended, lambda job: job.request.gpus)
    return Figures(
        utilization=outcome.gpu_seconds() / offered if offered else 0.0,
        idle_part=sharing.idle / offered if offered else 0.0,
        fairness=jain([share.part for share in sharing.by_owner.values()]),
        sharing=sharing,
        makespan_s=makespan_s,
        preemptions=outcome.preemptions,
        timeouts=outcome.timeouts,
        refused=len(outcome.refused),
        unstarted=len(outcome.trace) - len(outcome.refused) - len(ended),
        waits=_waits(outcome, ended),
        by_gpus={gpus: _waits(outcome, by_gpus[gpus]) for gpus in sorted(by_gpus)},
        by_owner={
            owner: _waits(outcome, by_owner[owner]) for owner in sorted(by_owner, key=lambda who: (-used[who], who))
        },
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest of the sorted values that `percent` of them do not exceed."""
    return values[max(0, -(-percent * len(values) // 100) - 1)]


def waits_of(outcome: Outcome, numbers: Iterable[int]) -> list[float]:
    return sorted(wait for number in numbers if (wait := outcome.wait_s(number)) is not None)


def bounded_slowdown(wait_s: float, run_s: float) -> float:
    """How many times longer the job took than its run, which counts as 10 s at least."""
    return max(1.0, (wait_s + run_s) / max(run_s, SHORTEST_RUN_S))


def _waits(outcome: Outcome, numbers: Sequence[int]) -> Waits:
    values = waits_of(outcome, numbers)
    if not values:
        return Waits()
    middle = len(values) // 2
    slowdowns = sorted(_slowdowns(outcome, numbers))
    return Waits(
        jobs=len(values),
        mean_s=sum(values) / len(values),
        median_s=values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2,
        p95_s=percentile(values, 95),
        p99_s=percentile(values, 99),
        mean_slowdown=sum(slowdowns) / len(slowdowns),
        p95_slowdown=percentile(slowdowns, 95),
    )


def _slowdowns(outcome: Outcome, numbers: Iterable[int]) -> Iterator[float]:
    for number in numbers:
        wait_s, run_s = outcome.wait_s(number), outcome.run_s(number)
        if wait_s is not None and run_s is not None:
            yield bounded_slowdown(wait_s, run_s)


def _grouped(outcome: Outcome, numbers: Iterable[int], key: Callable[[TraceJob], Any]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = {}
    for number in numbers:
        groups.setdefault(key(outcome.trace[number]), []).append(number)
    return groups


def _gpu_seconds(outcome: Outcome, number: int) -> float:
    run_s = outcome.run_s(number)
    assert run_s is not None, "only jobs that ended are counted"
    return run_s * outcome.trace[number].weight
