"""The outcome of a trace: when each job started and ended, and how many GPUs were in use."""

from __future__ import annotations

from dataclasses import field
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.sim.trace import TraceJob


class Attempt(NamedTuple):
    """GPUs that a job had for some time."""

    number: int  # the job's number in the trace
    starts_at: float
    ends_at: float
    gpus: float


@dataclass(slots=True, kw_only=True)
class Outcome:
    """Lists are indexed by the job's number in the trace. A start is that of the last attempt."""

    trace: Sequence[TraceJob]
    gpus: int
    starts: list[float | None]
    ends: list[float | None]
    preempted: list[Attempt] = field(default_factory=list)  # earlier attempts of jobs
    booked: dict[int, float] = field(default_factory=dict)  # by number: GPUs of the last attempt
    refused: set[int] = field(default_factory=set)  # jobs that could never start
    preemptions: int = 0
    timeouts: int = 0
    loads: list[tuple[float, float]] = field(default_factory=list)  # (time, GPUs in use from then on)

    def wait_s(self, number: int) -> float | None:
        """From submit to the last start: an attempt that was preempted counts as waiting."""
        started_at = self.starts[number]
        if started_at is None or self.ends[number] is None:
            return None
        return started_at - self.trace[number].submit_s

    def run_s(self, number: int) -> float | None:
        """How long the last attempt ran."""
        started_at, ended_at = self.starts[number], self.ends[number]
        return None if started_at is None or ended_at is None else ended_at - started_at

    def gpus_of(self, number: int) -> float:
        """The GPUs that a job booked, or would book; a fraction of each if it shares them."""
        request = self.trace[number].request
        return self.booked.get(number, request.gpus * (request.gpu_share or 1.0))

    @property
    def begins_at(self) -> float:
        return min(job.submit_s for job in self.trace)

    @property
    def ends_at(self) -> float:
        return max((end for end in self.ends if end is not None), default=self.begins_at)

    def load(self, at: float, gpus: float) -> None:
        """Note that `gpus` more are in use, or fewer if negative. The last value at one time counts."""
        in_use = gpus + (self.loads[-1][1] if self.loads else 0.0)
        if self.loads and self.loads[-1][0] == at:
            self.loads[-1] = (at, in_use)
        else:
            self.loads.append((at, in_use))

    def gpu_seconds(self) -> float:
        """GPU-seconds in use from the first submit to the last end, including preempted attempts."""
        return sum(self._used(self.begins_at, self.ends_at, 1))

    def mean_loads(self, begins_at: float, ends_at: float, count: int) -> list[float]:
        """The average number of GPUs in use in each of `count` equal intervals."""
        stretch_s = (ends_at - begins_at) / count
        return [used / stretch_s for used in self._used(begins_at, ends_at, count)]

    def _used(self, begins_at: float, ends_at: float, count: int) -> list[float]:
        """GPU-seconds in each of `count` equal intervals."""
        used, index = [0.0] * count, 0
        edges = [begins_at + (ends_at - begins_at) * (number + 1) / count for number in range(count - 1)]
        edges.append(inf)
        for (since, in_use), (until, _) in pairwise([*self.loads, (ends_at, 0.0)]):
            while since < until:
                while edges[index] <= since:
                    index += 1
                edge = min(until, edges[index])
                used[index] += in_use * (edge - since)
                since = edge
        return used
