"""Integrates max-min shares over time, at a cost per change that hardly depends on the number of owners.

At any moment a level divides the owners: those who want less than the level get what they want, all others get as much
as the level. As long as an owner is on the same side of the level, their sums need only the time and the integral of
the level, so only owners whom the level passes are updated.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Change(NamedTuple):
    """How much more an owner holds and wants from a moment on, and how many more jobs wait for GPUs."""

    at: float
    owner: str
    held: float
    wanted: float  # includes what is held
    waiting: int


class Owner:
    """What an owner wants and holds, and their sums up to the last update, in GPU-seconds."""

    __slots__ = ("due", "held", "is_capped", "is_short", "number", "poured", "short", "updated_at", "wanted")

    def __init__(self, number: int, at: float, poured: float) -> None:
        self.number = number
        self.wanted = self.held = 0.0
        self.is_capped = False  # wants more than the level
        self.is_short = False  # holds less than the share
        self.due = self.short = 0.0
        self.updated_at = at
        self.poured = poured  # the integral of the level then

    def update(self, now: float, poured: float) -> None:
        span_s = now - self.updated_at
        if span_s > 0:
            share = poured - self.poured if self.is_capped else self.wanted * span_s
            self.due += share
            if self.is_short:
                self.short += share - self.held * span_s
            self.updated_at = now
        self.poured = poured

    def compare(self, level: float) -> None:
        self.is_capped = self.wanted > level
        self.is_short = self.held < min(self.wanted, level)


class Amounts:
    """What each owner wants or holds, fewest first."""

    __slots__ = ("by_owner", "sorted")

    def __init__(self) -> None:
        self.by_owner: list[tuple[float, int]] = []  # with the owner's number
        self.sorted: list[float] = []  # the same without it

    def add(self, amount: float, number: int) -> None:
        place = bisect_left(self.by_owner, (amount, number))
        self.by_owner.insert(place, (amount, number))
        self.sorted.insert(place, amount)

    def move(self, before: float, after: float, number: int) -> None:
        place = bisect_left(self.by_owner, (before, number))
        del self.by_owner[place], self.sorted[place]
        self.add(after, number)

    def between(self, low: float, high: float) -> list[int]:
        """Numbers of the owners whose amount is from `low` to `high`."""
        first, end = bisect_left(self.sorted, low), bisect_right(self.sorted, high)
        return [number for _, number in self.by_owner[first:end]]


def level_of(wanted: Sequence[float], total: float, gpus: float, capped: int) -> tuple[float, int]:
    """The most that anyone gets of `gpus`, and how many want more; infinite and 0 if there are enough GPUs.

    `wanted` is sorted, and sums up to `total`. `capped` is a guess: the last answer is best.
    """
    if total <= gpus:
        return inf, 0
    count = len(wanted)
    capped = max(1, min(capped, count))
    left = gpus - total + sum(wanted[count - capped :])  # what others leave to those who want most
    level = left / capped
    if capped > 1 and wanted[count - capped] < level:
        while capped > 1 and wanted[count - capped] < level:
            left -= wanted[count - capped]
            capped -= 1
            level = left / capped
    else:
        while capped < count and wanted[count - capped - 1] > level:
            capped += 1
            left += wanted[count - capped]
            level = left / capped
    return level, capped


class MaxMin:
    def __init__(self, gpus: int, at: float) -> None:
        self.gpus = gpus
        self.now = at
        self.owners: dict[str, Owner] = {}
        self.idle = 0.0
        self._numbered: list[Owner] = []
        self._wanted, self._held = Amounts(), Amounts()
        self._total_wanted = self._in_use = 0.0
        self._waiting = 0  # jobs
        self._level, self._capped, self._poured = inf, 0, 0.0
        self._changed: set[Owner] = set()  # at this moment

    def add(self, change: Change) -> None:
        """Changes come in order of time."""
        if change.at > self.now:
            self._advance(change.at)
        owner = self.owners.get(change.owner) or self._newcomer(change.owner)
        owner.update(self.now, self._poured)
        self._changed.add(owner)
        self._waiting += change.waiting
        if change.held:
            self._in_use += change.held
            self._held.move(owner.held, owner.held + change.held, owner.number)
            owner.held += change.held
        if change.wanted:
            self._total_wanted += change.wanted
            self._wanted.move(owner.wanted, owner.wanted + change.wanted, owner.number)
            owner.wanted += change.wanted

    def finish(self, at: float) -> None:
        self._advance(at)
        for owner in self._numbered:
            owner.update(self.now, self._poured)

    def _newcomer(self, name: str) -> Owner:
        owner = self.owners[name] = Owner(len(self._numbered), self.now, self._poured)
        self._numbered.append(owner)
        self._wanted.add(0.0, owner.number)
        self._held.add(0.0, owner.number)
        return owner

    def _advance(self, until: float) -> None:
        """Find the level that holds from now on, then go on."""
        level, self._capped = level_of(self._wanted.sorted, self._total_wanted, self.gpus, self._capped)
        for owner in self._changed if level == self._level else self._changed.union(self._passed(level)):
            owner.update(self.now, self._poured)
            owner.compare(level)
        self._changed.clear()
        self._level = level
        span_s = until - self.now
        if level < inf:
            self._poured += level * span_s
        if self._waiting:
            self.idle += max(0.0, self.gpus - self._in_use) * span_s
        self.now = until

    def _passed(self, level: float) -> list[Owner]:
        """Owners with an amount between the last level and this one."""
        low, high = min(level, self._level), max(level, self._level)
        numbers = self._wanted.between(low, high) + self._held.between(low, high)
        return [self._numbered[number] for number in numbers]
