"""Which nodes could take which request right now, kept up to date node by node.

A pass over a thousand nodes looks again only at those that something happened to since the same was asked before.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tarmac.core.policy.placement import fitting_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules
    from tarmac.core.policy.backfill import EarliestStart, Hope

MOST_REQUESTS = 2_000  # remembered beyond those that wait
LONGEST_LOG = 100_000


@dataclass(slots=True, eq=False)
class Fits:
    """The nodes that one request fits on, by how many GPUs would do there: the fullest come first."""

    seen: int  # how far the log of touched nodes was read
    free: dict[NodeName, int] = field(default_factory=dict)
    by_free: dict[int, list[int]] = field(default_factory=dict)  # numbers of nodes, in order

    def put(self, name: NodeName, number: int, free: int | None) -> None:
        was = self.free.get(name)
        if was == free:
            return
        if was is not None:
            numbers = self.by_free[was]
            del numbers[bisect_left(numbers, number)]
            del self.free[name]
        if free is not None:
            self.free[name] = free
            insort(self.by_free.setdefault(free, []), number)

    def numbers(self) -> Iterator[int]:
        for free in sorted(self.by_free):
            yield from list(self.by_free[free])


@dataclass(slots=True, eq=False)
class EarliestStarts:
    """When one request could start on each node, as far as that can be known."""

    seen: int
    of: dict[NodeName, EarliestStart] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Room:
    fits: dict[Request, Fits] = field(default_factory=dict)
    prospects: dict[Request, EarliestStarts] = field(default_factory=dict)
    hopes: dict[NodeName, list[Hope]] = field(default_factory=dict)
    alike: dict[Request, dict[tuple[str, int], bool]] = field(default_factory=dict)  # do GPUs of a model and size suit?
    _hopes_seen: int = 0
    _log: list[NodeName] = field(default_factory=list)
    _names: list[NodeName] = field(default_factory=list)
    _numbers: dict[NodeName, int] = field(default_factory=dict)

    def touch(self, name: NodeName) -> None:
        """Something that placement depends on is different there."""
        self._log.append(name)
        if len(self._log) > LONGEST_LOG:
            self.forget()

    def forget(self) -> None:
        """Everything may be different, as when a rule was changed."""
        self.fits, self.prospects, self.hopes, self.alike = {}, {}, {}, {}
        self._log, self._hopes_seen = [], 0

    def hopes_on(self, name: NodeName, now: float) -> list[Hope] | None:
        """As kept, unless something happened there or an expectation ran out."""
        if self._hopes_seen != len(self._log):
            for touched in set(self._log[self._hopes_seen :]):
                self.hopes.pop(touched, None)
            self._hopes_seen = len(self._log)
        hopes = self.hopes.get(name)
        return None if hopes is None or any(hope[5] < now for hope in hopes) else hopes

    def fitting(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> Iterator[Node]:
        """Every node it fits on, the fullest first, equally full ones in their own order."""
        return (nodes[self._names[number]] for number in self._refreshed(nodes, request, rules).numbers())

    def fits_somewhere(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> bool:
        return bool(self._refreshed(nodes, request, rules).free)

    def _refreshed(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> Fits:
        if len(nodes) != len(self._names):
            self._number(nodes)
        fits = self.fits.get(request)
        if fits is None:
            if len(self.fits) >= MOST_REQUESTS:
                self.fits = {}
            fits = self.fits[request] = Fits(seen=len(self._log))
            names: set[NodeName] = set(self._names)
        elif fits.seen == len(self._log):
            return fits
        else:
            names = set(self._log[fits.seen :])
        for name in names:
            gpus = fitting_gpus(nodes[name], request, rules)
            fits.put(name, self._numbers[name], None if gpus is None else len(gpus))
        fits.seen = len(self._log)
        return fits

    def touched_since(self, seen: int) -> set[NodeName]:
        return set(self._log[seen:])

    @property
    def seen(self) -> int:
        return len(self._log)

    def _number(self, nodes: dict[NodeName, Node]) -> None:
        self._names = list(nodes)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self.forget()
