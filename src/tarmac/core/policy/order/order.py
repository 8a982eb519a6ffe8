"""Whose turn it is. A higher tier always goes first; within a tier, the policy decides.

- `fifo`: priority and position across all owners.
- `balance`: the owner with the fewest running GPUs for their share, then that owner's own order.
- `fairshare`: the same with GPU-hours, of which older ones count less.

`own_order` says which of an owner's jobs goes.
"""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.policy.order import own_order
from tarmac.core.policy.order.own_order import own_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId
    from tarmac.core.policy.order.own_order import Line
    from tarmac.core.queue.queue import JobClass, Turn
    from tarmac.core.state import State

Source: TypeAlias = own_order.Source
# Plain tuples, because a pass makes a hundred of them and named ones cost it a tenth of its time. The lower goes first.
Score: TypeAlias = tuple[int, float]  # group of the share (negative, zero, positive), what was used per share
OwnerKey: TypeAlias = "tuple[int, float, float, float, JobId]"  # tier, score (fifo: rank), submit time, job


def score(share: float, used: float) -> Score:
    """A share of 0 goes before every positive one, a negative one before 0."""
    if share == 0:
        return (1, 0.0)
    return (2 if share > 0 else 0, used / abs(share))


def owner_score(state: State, owner: str, now: float, planned_gpus: float = 0.0) -> Score:
    rules = state.rules
    if rules.policy == "fairshare":
        used = state.ledger.faded_gpu_s(owner, now, rules.half_life_s)
    else:
        used = state.ledger.gpus_of_owner.get(owner, 0.0) + planned_gpus
    return score(rules.shares(owner), used)


def owner_key(state: State, owner: str, turn: Turn, now: float, planned_gpus: float = 0.0) -> OwnerKey:
    if state.rules.policy == "fifo":
        return (turn.tier, turn.priority, turn.position, 0.0, turn.job)
    group, used_per_share = owner_score(state, owner, now, planned_gpus)
    return (turn.tier, group, used_per_share, state.jobs[turn.job].submitted_at, turn.job)


def owner_keys(state: State, turns: dict[str, Turn], now: float) -> list[tuple[OwnerKey, str]]:
    """The keys of several owners, without what is planned for them."""
    rules = state.rules
    if rules.policy != "balance":
        return [(owner_key(state, owner, turn, now), owner) for owner, turn in turns.items()]
    keys: list[tuple[OwnerKey, str]] = []
    shares, in_use, jobs = rules.shares, state.ledger.gpus_of_owner, state.jobs
    for owner, turn in turns.items():
        group, used_per_share = score(shares(owner), in_use.get(owner, 0.0))
        job = turn.job
        keys.append(((turn.tier, group, used_per_share, jobs[job].submitted_at, job), owner))
    return keys


class TurnOrder:
    """The classes that may start, in turn. Starting a job moves its owner back; a class can be set aside.

    An owner's place is that of their job with the first position. Which of their jobs goes, their own order decides.
    """

    def __init__(self, state: State, now: float, only: Iterable[Source] | None = None) -> None:
        self._state = state
        self._now = now
        self.planned_gpus: Counter[str] = Counter()  # of each owner; under balance they count as if they were in use
        self._lines: dict[str, Line] = {}  # of owners whose turn came
        self._sources: dict[str, list[Source]] = {}  # of the others; all of an owner's classes if nothing else is said
        if only is None:
            earliest = {owner: own.turn() for owner, own in state.queue.owners.items()}
        else:
            for source in only:
                self._sources.setdefault(source.owner, []).append(source)
            earliest = {owner: min([source.turn() for source in own]) for owner, own in self._sources.items()}
        self._owners = owner_keys(state, earliest, now)
        heapify(self._owners)

    def first(self) -> tuple[JobClass, JobId] | None:
        """The next job to try, and its class."""
        return self._first_line().first() if self._owners else None

    def set_aside(self, rest: list[JobId]) -> None:
        """Drop the first class. Of its jobs, only `rest` is still tried in this pass."""
        self._first_line().set_aside(rest)
        self._requeue_first_owner()

    def set_owner_aside(self) -> None:
        """Drop every class of the first owner that asks for a GPU."""
        self._first_line().set_gpus_aside()
        self._requeue_first_owner()

    def started(self) -> None:
        """Note that the first job has left the queue."""
        self._first_line().started()
        self._requeue_first_owner()

    def _first_line(self) -> Line:
        owner = self._owners[0][1]
        line = self._lines.get(owner)
        if line is None:
            sources = self._sources.pop(owner, None) or [self._state.queue.owners[owner]]
            line = self._lines[owner] = own_line(self._state, sources)
        return line

    def _requeue_first_owner(self) -> None:
        _, owner = heappop(self._owners)
        if line := self._lines[owner]:
            key = owner_key(self._state, owner, line.earliest(), self._now, self.planned_gpus[owner])
            heappush(self._owners, (key, owner))
