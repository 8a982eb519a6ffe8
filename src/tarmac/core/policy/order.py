"""Whose turn it is. `fifo`: priority and place over everybody. `balance`: the owner with the fewest running GPUs for
their share, then that owner's own order; `fairshare` the same with fading GPU-hours. A higher tier always goes first.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.queue import Classes, JobClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.queue import Turn
    from tarmac.core.state import State

Score: TypeAlias = tuple[int, float]
Key: TypeAlias = tuple[int, int, float, float, int]
Source: TypeAlias = Classes | JobClass


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
    """The classes that may start, in turn. Starting a job moves its owner back; a class can be set aside.

    Classes of one owner stand in it together, and are told apart only once one of them is set aside.
    """

    def __init__(self, state: State, now: float, only: Iterable[Source] | None = None) -> None:
        self._state = state
        self._now = now
        self._own: dict[str, list[tuple[Turn, int, Source]]] = {}
        sources = state.queue.owners.values() if only is None else only
        for number, source in enumerate(sources):
            self._own.setdefault(source.owner, []).append((source.turn(), number, source))
        self._number = len(state.queue.classes) + len(self._own)  # of what is told apart later
        for own in self._own.values():
            heapify(own)
        self._owners = [(key_of(state, owner, own[0][0], now), owner) for owner, own in self._own.items()]
        heapify(self._owners)

    def first(self) -> JobClass | None:
        if not self._owners:
            return None
        source = self._own[self._owners[0][1]][0][2]
        return source.first() if isinstance(source, Classes) else source

    def set_aside(self) -> None:
        """The first does not start in this pass, and none of its class."""
        own = self._own[self._owners[0][1]]
        _, _, source = heappop(own)
        first = source.first() if isinstance(source, Classes) else source
        for klass in _apart(source):
            if klass is not first:
                self._number += 1
                heappush(own, (klass.turn(), self._number, klass))
        self._again()

    def set_owner_aside(self) -> None:
        """Nothing of this owner that asks for a GPU starts in this pass."""
        own = self._own[self._owners[0][1]]
        classes = (klass for _, _, source in own for klass in _apart(source) if not klass.request.gpus)
        own[:] = [(klass.turn(), self._number + number, klass) for number, klass in enumerate(classes, 1)]
        self._number += len(own)
        heapify(own)
        self._again()

    def started(self) -> None:
        """The head of the first class left the queue."""
        own = self._own[self._owners[0][1]]
        _, number, source = own[0]
        if source.classes if isinstance(source, Classes) else source.waiting:
            heapreplace(own, (source.turn(), number, source))
        else:
            heappop(own)
        self._again()

    def _again(self) -> None:
        _, owner = heappop(self._owners)
        if own := self._own[owner]:
            heappush(self._owners, (key_of(self._state, owner, own[0][0], self._now), owner))


def _apart(source: Source) -> Iterable[JobClass]:
    return source.classes.values() if isinstance(source, Classes) else (source,)
