"""Which nodes can take which request right now, kept up to date node by node.

A pass over a thousand nodes looks only at those that changed since the same request was last asked about. Everything
in here can be computed from the state again; `invariants` does, and compares.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import field
from typing import TYPE_CHECKING

from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.fit.start_cache import StartCache
from tarmac.core.fit.touched_nodes import TouchedNodes
from tarmac.core.queue.request_kinds import least_of
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.model.names import Placement
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules

MAX_REQUESTS = 2_000  # whose fitting nodes are remembered


@dataclass(slots=True, eq=False)
class Fits:
    """The nodes that one request fits on, by how many of their GPUs it could use."""

    read: int = 0  # the last change of a node that was taken in
    usable: dict[NodeName, int] = field(default_factory=dict)
    by_usable: dict[int, list[int]] = field(default_factory=dict)  # numbers of nodes, sorted; never empty

    def put(self, name: NodeName, number: int, usable: int | None) -> None:
        """`usable` is None where the request does not fit."""
        before = self.usable.get(name)
        if before == usable:
            return
        if before is not None:
            numbers = self.by_usable[before]
            del numbers[bisect_left(numbers, number)]
            if not numbers:
                del self.by_usable[before]
            del self.usable[name]
        if usable is not None:
            self.usable[name] = usable
            insort(self.by_usable.setdefault(usable, []), number)

    def numbers(self, placement: Placement = "pack") -> Iterator[int]:
        """Pack: the fullest nodes first. Spread: the emptiest."""
        for usable in sorted(self.by_usable, reverse=placement == "spread"):
            yield from list(self.by_usable[usable])


@dataclass(slots=True, eq=False)
class GpuCounts:
    """How many GPUs the connected nodes have that jobs may run on."""

    read: int = 0  # the last change of a node that was taken in
    total: int = 0
    of_node: dict[NodeName, int] = field(default_factory=dict)

    def put(self, name: NodeName, count: int) -> None:
        self.total += count - self.of_node.get(name, 0)
        self.of_node[name] = count


@dataclass(slots=True, eq=False)
class FitCache:
    touched: TouchedNodes = field(default_factory=TouchedNodes)
    fits: dict[Request, Fits] = field(default_factory=dict)
    least: dict[Request, Fits] = field(default_factory=dict)  # of requests that can use what many others can
    starts: StartCache = field(init=False)
    gpus: GpuCounts = field(default_factory=GpuCounts)

    def __post_init__(self) -> None:
        self.starts = StartCache(self.touched)

    def touch(self, name: NodeName) -> None:
        """Note that something placement depends on changed on this node."""
        self.touched.touch(name)

    def clear(self) -> None:
        """Forget everything, as after a change of the rules."""
        self.fits, self.least = {}, {}
        self.starts = StartCache(self.touched)

    def gpu_count(self, nodes: dict[NodeName, Node]) -> int:
        """All GPUs of the connected nodes, apart from nodes that are only watched."""
        counts, touched = self.gpus, self.touched
        touched.add_new(nodes)
        if counts.read != touched.position:
            for name in touched.since(counts.read):
                node = nodes[name]
                counts.put(name, len(node.gpus) if node.is_connected and not node.is_watch_only else 0)
            counts.read = touched.position
        return counts.total

    def fitting(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> Iterator[Node]:
        """Every node the request fits on: preferred ones first, then as `placement` says.

        Equally full ones come in the order they joined.
        """
        names, fits = self.touched.names, self.fits_of(nodes, request, rules)
        if not request.prefer_nodes:
            yield from (nodes[names[number]] for number in fits.numbers(rules.placement))
            return
        preferred = [name for name in request.prefer_nodes if name in fits.usable]
        yield from (nodes[name] for name in preferred)
        others = (names[number] for number in fits.numbers(rules.placement))
        yield from (nodes[name] for name in others if name not in preferred)

    def may_fit(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> bool:
        """False if no node has as many usable GPUs. Costs less than a closer look at the nodes that changed."""
        bound = least_of(request)
        return bound is None or self.most_usable(nodes, bound, rules) >= request.gpus

    def fits_somewhere(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> bool:
        return bool(self.fits_of(nodes, request, rules).usable)

    def fits_of_least(self, nodes: dict[NodeName, Node], least: Request, rules: Rules) -> Fits:
        """Where LEAST_WHOLE or LEAST_SHARED fits: many requests cannot use more GPUs than these."""
        self.touched.add_new(nodes)
        known = self.least.get(least)
        if known is None:
            known = self.least[least] = Fits()
        if known.read != self.touched.position:
            self._refresh(known, nodes, least, rules)
        return known

    def most_usable(self, nodes: dict[NodeName, Node], least: Request, rules: Rules) -> int:
        """The most GPUs of one node that LEAST_WHOLE or LEAST_SHARED could use."""
        return max(self.fits_of_least(nodes, least, rules).by_usable, default=0)

    def fits_of(self, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> Fits:
        fits = self.fits.get(request)
        if fits is None:
            if len(self.fits) >= MAX_REQUESTS:
                del self.fits[next(iter(self.fits))]
            fits = self.fits[request] = Fits()
        self.touched.add_new(nodes)
        if fits.read != self.touched.position:
            self._refresh(fits, nodes, request, rules)
        return fits

    def _refresh(self, fits: Fits, nodes: dict[NodeName, Node], request: Request, rules: Rules) -> None:
        """Look at the nodes that changed. On a full one, a request that others share saves the closer look."""
        touched, least = self.touched, least_of(request)
        if least is not None and least is not request:
            known = self.fits_of_least(nodes, least, rules)
        for name in touched.since(fits.read):
            is_possible = least is None or least is request or known.usable.get(name, 0) >= request.gpus
            gpus = fitting_gpus(nodes[name], request, rules) if is_possible else None
            fits.put(name, touched.numbers[name], None if gpus is None else len(gpus))
        fits.read = touched.position
