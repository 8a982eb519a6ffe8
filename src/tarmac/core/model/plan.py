"""When and where waiting jobs could start: the records that planning works with."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple, TypeAlias

from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.records import dataclass

# What an expectation relies on. `owner`: the owner's last runs of that width. `outlived`: on what a job has outlived,
# doubled. `guess`: nothing is known.
RestsOn: TypeAlias = Literal[
    "stop", "limit", "history", "progress", "reservation", "begin", "retry", "owner", "outlived", "guess"
]
CERTAIN: frozenset[RestsOn] = frozenset({"stop", "limit"})
VAGUE: frozenset[RestsOn] = frozenset({"owner", "outlived", "guess"})  # good enough for plans, not for people

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


class FullPass(NamedTuple):
    """A pass that found no room for any waiting job."""

    job: JobId  # whose turn it was
    is_overdue: bool
    read: int  # the last change of a node that was taken in


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStart:
    """The GPUs held back for a job that does not fit. No job that starts later may delay it, as far as is expected."""

    job: JobId
    node: NodeName
    gpus: frozenset[GpuUuid]
    at: float | None  # None: the GPUs are held by jobs in an unknown state, but the job is overdue
    rests_on: frozenset[RestsOn]
    uses_host: bool  # the job also requested host memory or CPUs
    is_overdue: bool = False
    good_until: float = inf  # an expectation that it rests on runs out then

    @property
    def is_promise(self) -> bool:
        """Does it rest on time limits and stops alone? Then only jobs with a limit may pass."""
        return self.rests_on <= CERTAIN

    @property
    def shown_at(self) -> float | None:
        """The time to show to people; None where it is too vague."""
        return None if self.rests_on & VAGUE else self.at

    @property
    def backfill_until(self) -> float | None:
        """A job that ends by then does not delay the start. None if the GPUs may come free at any moment."""
        return None if "stop" in self.rests_on else self.at
