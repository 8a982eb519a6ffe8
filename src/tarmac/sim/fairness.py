"""How the GPUs were shared: what each owner's fair share was, by how much they fell short of it, and what was idle.

A fair share: all GPUs divided equally among the owners who want some; GPUs that one does not need go to the others
(max-min). Figures are exact: they are integrated from each change to the next.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from tarmac.sim.max_min import Change, MaxMin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.sim.outcome import Outcome


class OwnerShare(NamedTuple):
    """GPU-seconds of one owner."""

    due: float  # the fair share
    short: float  # by how much they had less, whenever they had less

    @property
    def part(self) -> float:
        """The fraction of the fair share that they had, at most 1."""
        return 1.0 - self.short / self.due if self.due else 1.0


class Sharing(NamedTuple):
    by_owner: dict[str, OwnerShare]  # owners who wanted GPUs
    idle: float  # GPU-seconds that were not booked while a job waited for GPUs

    @property
    def short(self) -> float:
        return sum(share.short for share in self.by_owner.values())

    @property
    def due(self) -> float:
        return sum(share.due for share in self.by_owner.values())


def jain(parts: Sequence[float]) -> float:
    """Jain's index: 1 if all parts are equal, 1/n if one of n has everything."""
    squares = sum(part * part for part in parts)
    return sum(parts) ** 2 / (len(parts) * squares) if squares else 1.0


def sharing_of(outcome: Outcome) -> Sharing:
    changes = sorted(_changes(outcome), key=itemgetter(0))
    if not changes:
        return Sharing({}, 0.0)
    sums = MaxMin(outcome.gpus, changes[0].at)
    for change in changes:
        sums.add(change)
    sums.finish(max(changes[-1].at, outcome.ends_at))
    return Sharing({name: OwnerShare(owner.due, owner.short) for name, owner in sums.owners.items()}, sums.idle)


def _changes(outcome: Outcome) -> Iterator[Change]:
    """A job wants GPUs from its submit until its end, and holds them during each attempt."""
    for number, job in enumerate(outcome.trace):
        gpus = outcome.gpus_of(number)
        if not gpus or number in outcome.refused:
            continue
        start, end = outcome.starts[number], outcome.ends[number]
        yield Change(job.submit_s, job.owner, 0.0, gpus, 1)
        if start is not None and end is not None:
            yield Change(start, job.owner, gpus, 0.0, -1)
            yield Change(end, job.owner, -gpus, -gpus, 0)
    for attempt in outcome.preempted:
        owner = outcome.trace[attempt.number].owner
        if attempt.gpus:
            yield Change(attempt.starts_at, owner, attempt.gpus, 0.0, -1)
            yield Change(attempt.ends_at, owner, -attempt.gpus, 0.0, 1)
