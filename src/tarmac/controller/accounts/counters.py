"""Counts since the controller started, for Prometheus, which expects counters to begin at 0 with each process."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.model.status import Failed, Starting, is_ended, state_name
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.changes import Changes
    from tarmac.core.model.job import Job
    from tarmac.nodes.reports import GpuReading
    from tarmac.store.accounts import Kind

WAITS_S = (1, 10, 60, 300, 1800, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400)
LONGEST_STEP_S = 60.0  # GPU time is counted every few seconds; a longer step means that the clock was set


class Holder(NamedTuple):
    """Whose GPU time it is."""

    kind: Kind
    owner: str
    project: str  # empty: none


class Ended(NamedTuple):
    owner: str
    state: str
    reason: str  # empty unless it failed


@dataclass(slots=True)
class Histogram:
    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)  # one per bound, and one for what is above all of them
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[int]:
        return list(accumulate(self.counts))


@dataclass(slots=True)
class Counters:
    held_s: dict[Holder, float] = field(default_factory=dict)
    used_s: dict[Holder, float] = field(default_factory=dict)
    energy_j: dict[Holder, float] = field(default_factory=dict)
    submitted: Counter[str] = field(default_factory=Counter)  # by owner
    ended: Counter[Ended] = field(default_factory=Counter)
    waits_s: Histogram = field(default_factory=lambda: Histogram(WAITS_S))

    def add_held(self, holder: Holder, seconds: float, part: float) -> None:
        self.held_s[holder] = self.held_s.get(holder, 0.0) + max(0.0, min(seconds, LONGEST_STEP_S)) * part

    def add_use(self, holder: Holder, reading: GpuReading, seconds: float, part: float) -> None:
        if reading.utilization is not None:
            self.used_s[holder] = self.used_s.get(holder, 0.0) + reading.utilization / 100 * seconds * part
        if reading.power_w is not None:
            self.energy_j[holder] = self.energy_j.get(holder, 0.0) + reading.power_w * seconds * part

    def count(self, changes: Changes) -> None:
        """Count jobs that were submitted, started or ended by a commit."""
        for job in changes.new:
            self.submitted[job.spec.owner] += 1
        for job in changes.changed.values():
            if isinstance(job.status, Starting) and job.attempt == 1:
                self.waits_s.observe(_wait_s(job, job.status))
            elif is_ended(job.status):
                reason = job.status.reason if isinstance(job.status, Failed) else ""
                self.ended[Ended(job.spec.owner, state_name(job.status), reason)] += 1


def _wait_s(job: Job, status: Starting) -> float:
    """From the submit, or from its begin time, to its first start."""
    return max(0.0, status.decided_at - max(job.submitted_at, job.spec.begin_at or 0.0))
