"""Shares are integrated with shortcuts; here they are compared with a plain sum over every stretch of time."""

from itertools import pairwise
from math import inf
from random import Random

import pytest

from tarmac.sim.fairness import sharing_of
from tarmac.sim.max_min import level_of
from tarmac.sim.outcome import Attempt, Outcome
from tests.sim.scene import a_row


def test_shares_are_equal_and_unneeded_parts_go_to_others():
    assert level_of([8, 8], 16, 4, capped=0) == (2, 2)
    assert level_of([1, 4, 9], 14, 8, capped=0) == (3.5, 2)
    assert level_of([1, 2], 3, 8, capped=2) == (inf, 0)


@pytest.mark.parametrize("guess", [0, 1, 2, 5, 9])
def test_any_guess_gives_the_same_level(guess: int):
    assert level_of([0, 1, 1, 3, 30], 35, 10, capped=guess) == (5, 1)
    assert level_of([7, 7, 7], 21, 6, capped=guess) == (2, 3)


@pytest.mark.parametrize("seed", range(40))
def test_the_sums_are_those_of_every_stretch(seed: int):
    outcome = random_outcome(Random(seed))
    due, short, idle = plain_sums(outcome)
    sharing = sharing_of(outcome)
    assert {owner: share.due for owner, share in sharing.by_owner.items()} == pytest.approx(due)
    assert {owner: share.short for owner, share in sharing.by_owner.items()} == pytest.approx(short, abs=1e-6)
    assert sharing.idle == pytest.approx(idle)


def random_outcome(dice: Random) -> Outcome:
    """At whole seconds, so that many changes coincide; some jobs share GPUs, some are preempted, some never start."""
    gpus = dice.choice([4, 16])
    outcome = Outcome(trace=[], gpus=gpus, starts=[], ends=[])
    trace = []
    for number in range(30):
        share = dice.choice([None, None, 0.25])
        job = a_row(dice.randrange(60), dice.choice("abcdefg"), dice.choice([0, 1, 2, 8]), 0, gpu_share=share)
        trace.append(job)
        start: float = job.submit_s + dice.randrange(40)
        if dice.random() < 0.2:
            outcome.preempted.append(Attempt(number, start, start + 5, outcome_gpus(job)))
            start += 5 + dice.randrange(3)
        is_started = dice.random() > 0.1
        outcome.starts.append(start if is_started else None)
        outcome.ends.append(start + dice.randrange(1, 50) if is_started else None)
    outcome.trace = trace
    return outcome


def outcome_gpus(job) -> float:
    return job.request.gpus * (job.request.gpu_share or 1)


def plain_sums(outcome: Outcome) -> tuple[dict[str, float], dict[str, float], float]:
    due: dict[str, float] = {}
    short: dict[str, float] = {}
    idle = 0.0
    for begin, end in pairwise(range(int(outcome.begins_at), int(outcome.ends_at) + 1)):
        wanted, held, is_waited = at(outcome, begin)
        left, in_use = float(outcome.gpus), sum(held.values())
        for place, owner in enumerate(sorted(wanted, key=lambda who: wanted[who])):
            share = min(wanted[owner], left / (len(wanted) - place))
            left -= share
            due[owner] = due.get(owner, 0.0) + share * (end - begin)
            short[owner] = short.get(owner, 0.0) + max(0.0, share - held.get(owner, 0.0)) * (end - begin)
        if is_waited:
            idle += max(0.0, outcome.gpus - in_use) * (end - begin)
    return due, short, idle


def at(outcome: Outcome, now: float) -> tuple[dict[str, float], dict[str, float], bool]:
    """What owners want and hold at a moment, and whether a job waits."""
    wanted: dict[str, float] = {}
    held: dict[str, float] = {}
    is_waited = False
    for number, job in enumerate(outcome.trace):
        start, end, gpus = outcome.starts[number], outcome.ends[number], outcome_gpus(job)
        spans = [(a.starts_at, a.ends_at) for a in outcome.preempted if a.number == number]
        if start is not None and end is not None:
            spans.append((start, end))
        if not gpus or not job.submit_s <= now < (inf if end is None else end):
            continue
        wanted[job.owner] = wanted.get(job.owner, 0.0) + gpus
        if any(since <= now < until for since, until in spans):
            held[job.owner] = held.get(job.owner, 0.0) + gpus
        else:
            is_waited = True
    return wanted, held, is_waited
