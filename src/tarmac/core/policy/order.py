"""Whose turn it is. A higher tier always goes first; within a tier, the policy decides.

- `fifo`: priority and position across all owners.
- `balance`: the owner with the fewest running GPUs for their share, then that owner's own order.
- `fairshare`: the same with GPU-hours, of which older ones count less.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.queue import Classes, JobClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId
    from tarmac.core.queue import Turn
    from tarmac.core.state import State

Source: TypeAlias = Classes | JobClass
# Plain tuples, because a pass makes a hundred of them and named ones cost it a tenth of its time. The lower goes first.
Score: TypeAlias = tuple[int, float]  # group of the share (negative, zero, positive), what was used per share
OwnerKey: TypeAlias = "tuple[int, float, float, float, JobId]"  # tier, score (fifo: rank), submit time, job
Place: TypeAlias = "tuple[Turn, int, Source]"  # the number keeps equal turns from comparing sources


def score(share: float, used: float) -> Score:
    """A share of 0 goes before every positive one, a negative one before 0."""
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


def owner_key(state: State, owner: str, turn: Turn, now: float) -> OwnerKey:
    if state.rules.policy == "fifo":
        return (turn.tier, turn.priority, turn.position, 0.0, turn.job)
    group, used_per_share = owner_score(state, owner, now)
    return (turn.tier, group, used_per_share, state.jobs[turn.job].submitted_at, turn.job)


class TurnOrder:
    """The classes that may start, in turn. Starting a job moves its owner back; a class can be set aside.

    Classes of one owner stand together and are split up only once one of them is set aside.
    """

    def __init__(self, state: State, now: float, only: Iterable[Source] | None = None) -> None:
        self._state = state
        self._now = now
        self._places: dict[str, list[Place]] = {}  # of each owner, as a heap
        sources = state.queue.owners.values() if only is None else only
        for number, source in enumerate(sources):
            self._places.setdefault(source.owner, []).append((source.turn(), number, source))
        self._number = len(state.queue.classes) + len(self._places)  # higher than any number given so far
        for own in self._places.values():
            heapify(own)
        self._owners = [(owner_key(state, owner, own[0][0], now), owner) for owner, own in self._places.items()]
        heapify(self._owners)

    def first(self) -> JobClass | None:
        if not self._owners:
            return None
        _, _, source = self._first_places()[0]
        return _first_class(source)

    def set_aside(self) -> None:
        """Drop the first class: none of its jobs starts in this pass."""
        own = self._first_places()
        _, _, source = heappop(own)
        first = _first_class(source)
        for klass in _classes_of(source):
            if klass is not first:
                self._number += 1
                heappush(own, (klass.turn(), self._number, klass))
        self._requeue_first_owner()

    def set_owner_aside(self) -> None:
        """Drop every class of the first owner that asks for a GPU."""
        own = self._first_places()
        classes = (klass for _, _, source in own for klass in _classes_of(source) if not klass.request.gpus)
        own[:] = [(klass.turn(), self._number + number, klass) for number, klass in enumerate(classes, 1)]
        self._number += len(own)
        heapify(own)
        self._requeue_first_owner()

    def started(self) -> None:
        """Note that the first job of the first class has left the queue."""
        own = self._first_places()
        _, number, source = own[0]
        if source.classes if isinstance(source, Classes) else source.waiting:
            heapreplace(own, (source.turn(), number, source))
        else:
            heappop(own)
        self._requeue_first_owner()

    def _first_places(self) -> list[Place]:
        _, owner = self._owners[0]
        return self._places[owner]

    def _requeue_first_owner(self) -> None:
        _, owner = heappop(self._owners)
        if own := self._places[owner]:
            first_turn, _, _ = own[0]
            heappush(self._owners, (owner_key(self._state, owner, first_turn, self._now), owner))


def _first_class(source: Source) -> JobClass:
    return source.first() if isinstance(source, Classes) else source


def _classes_of(source: Source) -> Iterable[JobClass]:
    return source.classes.values() if isinstance(source, Classes) else (source,)
