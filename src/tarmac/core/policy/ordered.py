"""Whose turn it is. `fifo`: priority and place over everybody. `balance`: the owner with the fewest running GPUs for
their share, then that owner's own order; `fairshare` the same with fading GPU-hours. A higher tier always goes first.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.queue import JobClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.queue import Turn
    from tarmac.core.state import State

Score: TypeAlias = tuple[int, float]
Key: TypeAlias = tuple[int, int, float, float, int]


def score(share: float, used: float) -> Score:
    """Lower goes first. A share of 0 goes before every positive one, a negative one before 0."""
    if share == 0:
        return (1, 0.0)
    return (2 if share > 0 else 0, used / abs(share))


def owner_score(state: State, owner: str, now: float) -> Score:
    rules = state.rules
    if rules.policy == "fairshare":
        used = state.ledger.faded_gpu_s(owner, now, rules.half_life_s)
    else:
        used = state.ledger.gpus_of_owner.get(owner, 0.0)
    return score(rules.shares(owner), used)


def key_of(state: State, owner: str, turn: Turn, now: float) -> Key:
    """Of an owner's first job, against those of the others."""
    tier, priority, position, job = turn
    if state.rules.policy == "fifo":
        return (tier, priority, position, 0.0, job)
    group, points = owner_score(state, owner, now)
    return (tier, group, points, state.jobs[job].submitted_at, job)  # type: ignore[index]


class Line:
    """The classes that may start, in turn. Starting a job moves its owner back; a class can be set aside."""

    def __init__(self, state: State, now: float, only: Iterable[JobClass] | None = None) -> None:
        self._state = state
        self._now = now
        self._own: dict[str, list[tuple[Turn, int, JobClass]]] = {}
        firsts: list[tuple[str, Turn]]
        if only is None:
            # The other classes of an owner are looked at only once it is that owner's turn.
            firsts = [(owner, queue.first()[0]) for owner, queue in state.queue.owners.items()]
        else:
            for klass in only:
                self._own.setdefault(klass.owner, []).append((klass.turn(), id(klass), klass))
            for own in self._own.values():
                heapify(own)
            firsts = [(owner, own[0][0]) for owner, own in self._own.items()]
        self._owners = [(key_of(state, owner, turn, now), owner) for owner, turn in firsts]
        heapify(self._owners)

    def first(self) -> JobClass | None:
        return self._classes(self._owners[0][1])[0][2] if self._owners else None

    def set_aside(self) -> None:
        """The first does not start in this pass, and none of its class."""
        owner = self._owners[0][1]
        own = self._classes(owner)
        heappop(own)
        self._again(owner, own)

    def started(self) -> None:
        """The head of the first class left the queue."""
        owner = self._owners[0][1]
        own = self._classes(owner)
        klass = own[0][2]
        if klass.waiting:
            heapreplace(own, (klass.turn(), id(klass), klass))
        else:
            heappop(own)
        self._again(owner, own)

    def _again(self, owner: str, own: list[tuple[Turn, int, JobClass]]) -> None:
        heappop(self._owners)
        if own:
            heappush(self._owners, (key_of(self._state, owner, own[0][0], self._now), owner))

    def _classes(self, owner: str) -> list[tuple[Turn, int, JobClass]]:
        own = self._own.get(owner)
        if own is None:
            classes = self._state.queue.owners[owner].classes.values()
            own = self._own[owner] = [(klass.turn(), id(klass), klass) for klass in classes]
            heapify(own)
        return own
