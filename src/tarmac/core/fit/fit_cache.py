"""Which nodes can take which request right now, kept up to date node by node.

A pass over a thousand nodes looks only at those that changed since the same request was last asked about. Everything
in here can be computed from the state again; `invariants` does, and compares.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tarmac.core.fit.node_fit import fitting_gpus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import EarliestStart, GpuAvailability
    from tarmac.core.model.rules import Rules

MAX_REQUESTS = 2_000  # whose fitting nodes are remembered
MAX_PLANNED = 64  # requests whose earliest starts are remembered
MAX_LOG = 100_000


@dataclass(slots=True, eq=False)
class Fits:
    """The nodes that one request fits on, by how many of their GPUs it could use: the fullest come first."""

    read: int  # how far the log of changed nodes was read
    usable: dict[NodeName, int] = field(default_factory=dict)
    by_usable: dict[int, list[int]] = field(default_factory=dict)  # numbers of nodes, sorted

    def put(self, name: NodeName, number: int, usable: int | None) -> None:
        """`usable` is None where the request does not fit."""
        before = self.usable.get(name)
        if before == usable:
            return
        if before is not None:
            numbers = self.by_usable[before]
            del numbers[bisect_left(numbers, number)]
            del self.usable[name]
        if usable is not None:
            self.usable[name] = usable
            insort(self.by_usable.setdefault(usable, []), number)

    def numbers(self) -> Iterator[int]:
        for usable in sorted(self.by_usable):
            yield from list(self.by_usable[usable])


@dataclass(slots=True, eq=False)
class EarliestStarts:
    """When one request could start on each node, as far as that can be known."""

    read: int
    by_node: dict[NodeName, EarliestStart] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class FitCache:
    fits: dict[Request, Fits] = field(default_factory=dict)
    starts: dict[Request, EarliestStarts] = field(default_factory=dict)
    availability: dict[NodeName, list[GpuAvailability]] = field(default_factory=dict)  # for requests of whole GPUs
    alike: dict[Request, dict[tuple[str, int], bool]] = field(default_factory=dict)  # does a GPU of (model, size) suit?
    _log: list[NodeName] = field(default_factory=list)  # nodes in the order they changed
    _availability_read: int = 0
    _names: list[NodeName] = field(default_factory=list)
    _numbers: dict[NodeName, int] = field(default_factory=dict)

    def touch(self, name: NodeName) -> None:
        """Note that something placement depends on changed on this node."""
        self._log.append(name)
        if len(self._log) > MAX_LOG:
            self.clear()

    def clear(self) -> None:
        """Forget everything, as after a change of the rules."""
        self.fits, self.starts, self.availability, self.alike = {}, {}, {}, {}
        self._log, self._availability_read = [], 0

    def fitting(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> Iterator[Node]:
        """Every node the request fits on: the fullest first, equally full ones in the order they joined."""
        return (nodes[self._names[number]] for number in self._refreshed(nodes, request, rules).numbers())

    def fits_somewhere(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> bool:
        return bool(self._refreshed(nodes, request, rules).usable)

    def starts_of(
        self, request: Request, nodes: Collection[NodeName], now: float
    ) -> tuple[dict[NodeName, EarliestStart], Collection[NodeName]]:
        """The cached earliest starts of a request, and the nodes whose entry the caller must compute anew."""
        known = self.starts.get(request)
        if known is None:
            if len(self.starts) > MAX_PLANNED:
                self.starts.clear()
            known = self.starts[request] = EarliestStarts(read=len(self._log))
            return known.by_node, nodes
        expired = {name for name, start in known.by_node.items() if start.good_until < now}
        stale = self.touched_since(known.read) | expired
        known.read = len(self._log)
        return known.by_node, stale

    def availability_on(self, name: NodeName, now: float) -> list[GpuAvailability] | None:
        """None where the node changed or an expectation ran out."""
        if self._availability_read != len(self._log):
            for touched in self.touched_since(self._availability_read):
                self.availability.pop(touched, None)
            self._availability_read = len(self._log)
        gpus = self.availability.get(name)
        return None if gpus is None or any(gpu.good_until < now for gpu in gpus) else gpus

    def touched_since(self, read: int) -> set[NodeName]:
        return set(self._log[read:])

    def untouched_availability(self) -> dict[NodeName, list[GpuAvailability]]:
        """The lists that are still in date, for the invariant check."""
        touched = self.touched_since(self._availability_read)
        return {name: gpus for name, gpus in self.availability.items() if name not in touched}

    def _refreshed(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> Fits:
        if len(nodes) != len(self._names):
            self._number(nodes)
        fits = self.fits.get(request)
        if fits is None:
            if len(self.fits) >= MAX_REQUESTS:
                self.fits = {}
            fits = self.fits[request] = Fits(read=len(self._log))
            names: set[NodeName] = set(self._names)
        elif fits.read == len(self._log):
            return fits
        else:
            names = self.touched_since(fits.read)
        for name in names:
            gpus = fitting_gpus(nodes[name], request, rules)
            fits.put(name, self._numbers[name], None if gpus is None else len(gpus))
        fits.read = len(self._log)
        return fits

    def _number(self, nodes: dict[NodeName, Node]) -> None:
        self._names = list(nodes)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self.clear()
