"""When and where waiting jobs could start: the records that planning works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from tarmac.core.model.ids import GpuUuid, JobId, NodeName

RestsOn: TypeAlias = Literal[
    "stop", "limit", "history", "progress", "reservation", "begin"
]  # what an expectation relies on

FREE, ENDS, ENDLESS, FOREIGN = range(4)  # kinds of availability; lower means sooner


class EndByProgress(NamedTuple):
    """When an attempt ends by the progress that it prints; None if it prints none, or none that can be true."""

    job: JobId
    attempt: int
    at: float | None


class GpuAvailability(NamedTuple):
    """When one GPU comes free. Sorts by preference: free GPUs, known ends, unknown ends, foreign processes."""

    kind: int
    at: float
    gpu_index: int
    gpu: GpuUuid
    rests_on: frozenset[RestsOn] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class EarliestStart:
    """When and on which GPUs of one node a request could start."""

    at: float | None  # None: depends on an unknown end
    gpus: tuple[GpuUuid, ...]  # empty: never with the node's present GPUs
    free: int = 0  # how many of the GPUs are free now
    rests_on: frozenset[RestsOn] = frozenset()


NEVER = EarliestStart(at=None, gpus=())


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStart:
    """The GPUs reserved for the first job that does not fit. Nothing that starts later may delay it."""

    job: JobId
    node: NodeName
    gpus: frozenset[GpuUuid]
    at: float | None  # None: no end is known, but the job has waited long enough
    rests_on: frozenset[RestsOn]
    uses_host: bool  # the job also requested host memory or CPUs

    @property
    def backfill_until(self) -> float | None:
        """A job that ends by then does not delay the start. None if the GPUs may come free at any moment."""
        return None if "stop" in self.rests_on else self.at
