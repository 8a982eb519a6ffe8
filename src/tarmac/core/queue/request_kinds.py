"""The waiting classes by kind: their requests differ only in amounts, and not by much.

Where the least of each amount does not fit, no request of the kind does. So a scheduling pass looks at a few kinds,
even if a thousand different requests wait.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.model.job import Request
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection

    from tarmac.core.model.gpu import NamedGpu
    from tarmac.core.model.ids import NodeName
    from tarmac.core.queue.queue import Classes

SHARE_UNIT = 1 / 64
LEAST_WHOLE = Request()
LEAST_SHARED = Request(gpu_memory_bytes=1)
LEAST_SHARE = 0.001  # a smaller one may round to no memory at all


class Amounts(NamedTuple):
    gpu_memory_bytes: int
    gpu_share: float
    min_gpu_memory_bytes: int
    memory_bytes: int
    cpus: int

    def least(self, other: Amounts) -> Amounts:
        """The lower of each two."""
        return Amounts(
            min(self.gpu_memory_bytes, other.gpu_memory_bytes),
            min(self.gpu_share, other.gpu_share),
            min(self.min_gpu_memory_bytes, other.min_gpu_memory_bytes),
            min(self.memory_bytes, other.memory_bytes),
            min(self.cpus, other.cpus),
        )


class KindKey(NamedTuple):
    gpus: int
    node_count: int
    limit_magnitude: int
    gpu_models: tuple[str, ...]
    gpus_on: tuple[NamedGpu | int, ...]
    exclude_gpus: tuple[NamedGpu | int, ...]
    idle_below: int | None
    only_nodes: tuple[NodeName, ...]
    exclude_nodes: tuple[NodeName, ...]
    prefer_nodes: tuple[NodeName, ...]
    nodes_lacking: tuple[NodeName, ...]
    magnitudes: tuple[int, ...]  # of the amounts, in bits: an amount that is 0 is 0 for all requests of the kind


def kind_key(request: Request, limit_magnitude: int) -> KindKey:
    gpu_memory, share, *others = amounts_of(request)
    units = (gpu_memory, -int(-share // SHARE_UNIT), *others)
    return KindKey(
        request.gpus,
        request.node_count,
        limit_magnitude,
        request.gpu_models,
        request.gpus_on,
        request.exclude_gpus,
        request.idle_below,
        request.only_nodes,
        request.exclude_nodes,
        request.prefer_nodes,
        request.nodes_lacking,
        tuple(int(amount).bit_length() for amount in units),
    )


def amounts_of(request: Request) -> Amounts:
    return Amounts(
        request.gpu_memory_bytes or 0,
        request.gpu_share or 0,
        request.min_gpu_memory_bytes,
        request.memory_bytes,
        request.cpus,
    )


@dataclass(slots=True, eq=False)
class Kind:
    key: KindKey
    owners: dict[str, Classes] = field(default_factory=dict)
    requests: dict[Request, int] = field(default_factory=dict)  # and how many classes ask for each
    _least: Request | None = None
    _bound: Request | None = None

    @property
    def least_limit_s(self) -> int:
        """No job has a shorter time limit; 0 where they have none."""
        magnitude = self.key.limit_magnitude
        return 0 if magnitude <= 0 else 1 << (magnitude - 1)

    def least(self) -> Request:
        """The least of each amount that is asked for."""
        if self._least is not None:
            return self._least
        amounts = reduce(Amounts.least, map(amounts_of, self.requests))
        return self._set_least(_with(next(iter(self.requests)), amounts))

    def bound(self) -> Request | None:
        """What `least_of` says about the least."""
        if self._least is None:
            self.least()
        return self._bound

    def add(self, request: Request) -> bool:
        """True if no other class of the kind asks for it."""
        is_new = request not in self.requests
        if is_new and self._least is not None:
            known = amounts_of(self._least)
            least = known.least(amounts_of(request))
            if least != known:
                self._set_least(_with(request, least))
        self.requests[request] = self.requests.get(request, 0) + 1
        return is_new

    def remove(self, request: Request) -> bool:
        """True if no other class of the kind asks for it."""
        self.requests[request] -= 1
        if self.requests[request]:
            return False
        del self.requests[request]
        if self._least is not None:
            pairs = zip(amounts_of(self._least), amounts_of(request), strict=True)
            if any(least == amount and amount for least, amount in pairs):
                self._least = None
        return True

    def _set_least(self, least: Request) -> Request:
        self._least, self._bound = least, least_of(least)
        return least


class Least(NamedTuple):
    """The least request of some kinds, which differ only in the limits of their jobs."""

    request: Request
    bound: Request | None
    kinds: dict[Kind, None]


class LeastRequests:
    """The kinds by their least request. Only those whose requests changed are sorted in again."""

    __slots__ = ("_changed", "_groups", "_least_of")

    def __init__(self) -> None:
        self._groups: dict[Request, Least] = {}
        self._least_of: dict[Kind, Request] = {}
        self._changed: dict[Kind, None] = {}

    def changed(self, kind: Kind) -> None:
        """Note that a request of the kind is new or gone."""
        self._changed[kind] = None

    def groups(self) -> Collection[Least]:
        for kind in self._changed:
            self._remove(kind)
            if kind.requests:
                request = self._least_of[kind] = kind.least()
                if request not in self._groups:
                    self._groups[request] = Least(request, kind.bound(), {})
                self._groups[request].kinds[kind] = None
        self._changed.clear()
        return self._groups.values()

    def _remove(self, kind: Kind) -> None:
        request = self._least_of.pop(kind, None)
        if request is not None:
            del self._groups[request].kinds[kind]
            if not self._groups[request].kinds:
                del self._groups[request]


def least_of(request: Request) -> Request | None:
    """A request that can use every GPU that this one can, if it is one of those that many share."""
    if not request.gpus or request.idle_below is not None:
        return None
    if not request.is_shared:
        return LEAST_WHOLE
    is_tiny = request.gpu_memory_bytes is None and (request.gpu_share or 0) < LEAST_SHARE
    return None if is_tiny else LEAST_SHARED


def _with(request: Request, amounts: Amounts) -> Request:
    """The request with these amounts. One without an amount has none of that kind."""
    if amounts == amounts_of(request):
        return request  # requests are looked up by it: one that is the same is found sooner than one that is equal
    return replace(
        request,
        gpu_memory_bytes=None if request.gpu_memory_bytes is None else amounts.gpu_memory_bytes,
        gpu_share=None if request.gpu_share is None else amounts.gpu_share,
        min_gpu_memory_bytes=amounts.min_gpu_memory_bytes,
        memory_bytes=amounts.memory_bytes,
        cpus=amounts.cpus,
    )
