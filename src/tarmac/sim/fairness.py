"""How evenly the GPUs were shared: which fraction of its fair share each owner had.

A fair share: all GPUs divided equally among the owners who want some; GPUs that one does not need go to the others.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tarmac.sim.outcome import Outcome

MOMENTS = 2_000  # sampled points in time: a long trace has a million changes, and little happens between samples


def jain(parts: Sequence[float]) -> float:
    """Jain's index: 1 if all parts are equal, 1/n if one of n has everything."""
    squares = sum(part * part for part in parts)
    return sum(parts) ** 2 / (len(parts) * squares) if squares else 1.0


def parts_of_share(outcome: Outcome) -> dict[str, float]:
    """For each owner who wanted GPUs: the fraction of the fair share that they had, at most 1."""
    had: dict[str, float] = {}
    due: dict[str, float] = {}
    for held, wanted in _moments(outcome):
        for owner, share in shares(wanted, outcome.gpus).items():
            due[owner] = due.get(owner, 0.0) + share
            had[owner] = had.get(owner, 0.0) + min(share, held.get(owner, 0.0))
    return {owner: had[owner] / due[owner] for owner in due}


def shares(wanted: Mapping[str, float], gpus: float) -> dict[str, float]:
    """Serve owners who want least first; each gets at most an equal part of what is left."""
    left, shared = gpus, {}
    for place, (owner, asked) in enumerate(sorted(wanted.items(), key=lambda item: (item[1], item[0]))):
        shared[owner] = min(asked, left / (len(wanted) - place))
        left -= shared[owner]
    return shared


def _moments(outcome: Outcome) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """What each owner holds, and wants including that, sampled in the middle of equal intervals."""
    changes = sorted(_changes(outcome), key=lambda change: change[0])
    begins_at = outcome.begins_at
    step_s = (outcome.ends_at - begins_at) / MOMENTS
    held: dict[str, float] = {}
    wanted: dict[str, float] = {}
    done = 0
    for number in range(MOMENTS):
        moment = begins_at + (number + 0.5) * step_s
        while done < len(changes) and changes[done][0] <= moment:
            _, owner, more_held, more_wanted = changes[done]
            held[owner] = held.get(owner, 0.0) + more_held
            wanted[owner] = wanted.get(owner, 0.0) + more_wanted
            done += 1
        yield held, {owner: gpus for owner, gpus in wanted.items() if gpus > 1e-9}


def _changes(outcome: Outcome) -> Iterator[tuple[float, str, float, float]]:
    return chain.from_iterable(_of_job(outcome, number) for number in range(len(outcome.trace)))


def _of_job(outcome: Outcome, number: int) -> Iterator[tuple[float, str, float, float]]:
    """A job wants GPUs from its submit and holds them from its last start, both until its end."""
    job, start, end = outcome.trace[number], outcome.starts[number], outcome.ends[number]
    gpus = job.request.gpus * (job.request.gpu_share or 1.0)
    if gpus and start is not None and end is not None:
        yield job.submit_s, job.owner, 0.0, gpus
        yield start, job.owner, gpus, 0.0
        yield end, job.owner, -gpus, -gpus
