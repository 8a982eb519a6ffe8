"""The waiting classes by kind: their requests differ only in amounts, and not by much.

Where the least of each amount does not fit, no request of the kind does. So a scheduling pass looks at a few kinds,
even if a thousand different requests wait.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tarmac.core.model.gpu import NamedGpu
    from tarmac.core.model.job import Request
    from tarmac.core.queue import Classes

SHARE_UNIT = 1 / 64


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
    limit_magnitude: int
    gpu_models: tuple[str, ...]
    gpus_on: tuple[NamedGpu | int, ...]
    exclude_gpus: tuple[NamedGpu | int, ...]
    idle_below: int | None
    magnitudes: tuple[int, ...]  # of the amounts, in bits: an amount that is 0 is 0 for all requests of the kind


def kind_key(request: Request, limit_magnitude: int) -> KindKey:
    gpu_memory, share, *others = amounts_of(request)
    units = (gpu_memory, -int(-share // SHARE_UNIT), *others)
    return KindKey(
        request.gpus,
        limit_magnitude,
        request.gpu_models,
        request.gpus_on,
        request.exclude_gpus,
        request.idle_below,
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

    @property
    def least_limit_s(self) -> int:
        """No job has a shorter time limit; 0 where they have none."""
        magnitude = self.key.limit_magnitude
        return 0 if magnitude <= 0 else 1 << (magnitude - 1)

    def least(self) -> Request:
        """The least of each amount that is asked for."""
        if self._least is None:
            least = reduce(Amounts.least, map(amounts_of, self.requests))
            self._least = _with(next(iter(self.requests)), least)
        return self._least

    def add(self, request: Request) -> None:
        if request not in self.requests and self._least is not None:
            known = amounts_of(self._least)
            least = known.least(amounts_of(request))
            self._least = self._least if least == known else _with(request, least)
        self.requests[request] = self.requests.get(request, 0) + 1

    def remove(self, request: Request) -> None:
        self.requests[request] -= 1
        if self.requests[request]:
            return
        del self.requests[request]
        if self._least is not None:
            pairs = zip(amounts_of(self._least), amounts_of(request), strict=True)
            if any(least == amount and amount for least, amount in pairs):
                self._least = None


def _with(request: Request, amounts: Amounts) -> Request:
    """The request with these amounts. One without an amount has none of that kind."""
    return replace(
        request,
        gpu_memory_bytes=None if request.gpu_memory_bytes is None else amounts.gpu_memory_bytes,
        gpu_share=None if request.gpu_share is None else amounts.gpu_share,
        min_gpu_memory_bytes=amounts.min_gpu_memory_bytes,
        memory_bytes=amounts.memory_bytes,
        cpus=amounts.cpus,
    )
