"""When requests could start on which node, kept up to date node by node.

A planner asks for the first node only. Nodes are therefore kept in order of a lower bound that many requests
share, and the exact start is computed only for those at the front. `policy/earliest_start.py` fills this cache.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import field
from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.fit.touched_nodes import PerNode
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.fit.touched_nodes import TouchedNodes
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.model.plan import EarliestStart, GpuAvailability
    from tarmac.core.runtimes import End

MAX_ORDERS = 64  # orders of nodes that are remembered
MAX_REQUESTS = 256  # requests whose starts are remembered

GpuKind: TypeAlias = tuple[str, int]  # model and size
Ends: TypeAlias = "dict[JobId, End | None]"


@dataclass(slots=True, eq=False)
class StartOrder:
    """Nodes by a moment. Nodes without one are left out."""

    read: int = 0  # the last change of a node that was taken in
    at: dict[int, float] = field(default_factory=dict)  # by the node's number
    order: list[tuple[float, int]] = field(default_factory=list)

    def put(self, number: int, at: float) -> None:
        """`at` is inf where no moment is known."""
        before = self.at.get(number, inf)
        if before == at:
            return
        if before != inf:
            del self.order[bisect_left(self.order, (before, number))]
            del self.at[number]
        if at != inf:
            self.at[number] = at
            insort(self.order, (at, number))


class StartCache:
    def __init__(self, touched: TouchedNodes) -> None:
        self.orders: dict[Request | None, StartOrder] = {}  # None: by the first end of a job
        self.by_request: dict[Request, PerNode[EarliestStart]] = {}
        self.ends: PerNode[Ends] = PerNode(touched)  # of the jobs on each node
        self.availability: PerNode[list[GpuAvailability]] = PerNode(touched)  # for requests of whole GPUs
        self.alike: dict[Request, dict[GpuKind, bool]] = {}  # does a GPU of this kind suit?
        self._touched = touched
        self._good_until: dict[NodeName, float] = {}
        self._expiries: list[tuple[float, NodeName]] = []  # a heap; entries that `_good_until` does not confirm are old

    def order_of(self, key: Request | None) -> StartOrder:
        order = self.orders.pop(key, None) or StartOrder()
        self.orders[key] = order  # the one asked for last is forgotten last
        if len(self.orders) > MAX_ORDERS:
            del self.orders[next(iter(self.orders))]
        return order

    def starts_of(self, request: Request) -> PerNode[EarliestStart]:
        starts = self.by_request.pop(request, None)
        if starts is None:
            starts = PerNode(self._touched)
        self.by_request[request] = starts
        if len(self.by_request) > MAX_REQUESTS:
            del self.by_request[next(iter(self.by_request))]
        return starts

    def alike_of(self, request: Request) -> dict[GpuKind, bool]:
        alike = self.alike.get(request)
        if alike is None:
            if len(self.alike) >= MAX_REQUESTS:
                del self.alike[next(iter(self.alike))]
            alike = self.alike[request] = {}
        return alike

    def put_ends(self, name: NodeName, ends: Ends, good_until: float) -> Ends:
        """The ends of the jobs on a node, and until when they can be true."""
        if self._good_until.get(name, inf) != good_until:
            self._good_until[name] = good_until
            if good_until != inf:
                heappush(self._expiries, (good_until, name))
        if len(self._expiries) > 4 * len(self._good_until) + 64:
            self._expiries = [(at, name) for name, at in self._good_until.items() if at != inf]
            heapify(self._expiries)
        return self.ends.put(name, ends)

    def good_until(self, name: NodeName) -> float:
        """When a job on the node outlives what is expected of it."""
        return self._good_until.get(name, inf)

    def has_run_out(self, now: float) -> bool:
        """May a job have outlived what is expected of it?"""
        return bool(self._expiries) and self._expiries[0][0] <= now

    def expire(self, now: float) -> None:
        """Touch the nodes with a job that runs longer than was expected."""
        while self._expiries and self._expiries[0][0] <= now:
            at, name = heappop(self._expiries)
            if self._good_until.get(name) == at:
                del self._good_until[name]
                self._touched.touch(name)
