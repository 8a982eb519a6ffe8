"""What every way of reading GPUs has in common. Several may be there at once: each knows its own make of GPU only."""

from __future__ import annotations

from typing import Any, Collection, Dict, List, NamedTuple, Optional, Protocol, Sequence

from tarmac.agent.gpus.gpu_processes import Holders
from tarmac.agent.gpus.heartbeat import Beat

Gpu = Dict[str, Any]


class Absent(Exception):
    """There is nothing to talk to; the text says what to do about it, and is empty where that is no wonder."""


class Reading(NamedTuple):
    gpus: List[Gpu]
    divided: Sequence[str] = ()  # uuids of GPUs that are there but only as the instances they were divided into
    xids: Sequence[Dict[str, Any]] = ()  # {"uuid", "number"} of what the driver told since the last reading


class Source(Protocol):
    make: str
    name: str  # what the frame calls it

    def read(self) -> Reading:
        """All GPUs, those that fail with words why. Raises Absent."""
        ...


class Bench:
    """What the sources work with, and which GPUs each has to leave alone."""

    def __init__(
        self,
        beat: Beat,
        *,
        slow_s: float,
        skip: Optional[Dict[int, Optional[str]]] = None,
        only: Optional[Collection[int]] = None,
    ) -> None:
        self.holders = Holders()
        self.slow_s = slow_s  # between two looks at what changes seldom: errors counted, division into instances
        self.beat = beat
        self.skip = dict(skip or {})  # index → uuid, where it is known
        self.only = only  # None: all


def gpu(
    index: int,
    uuid: Optional[str],
    model: str,
    *,
    make: str,
    total: int = 0,
    used: Optional[int] = None,
    fault: Optional[str] = None,
) -> Gpu:
    """One of which nothing else is known."""
    return {
        "index": index,
        "uuid": uuid,
        "model": model,
        "memory_total_bytes": total,
        "memory_used_bytes": used,
        "utilization": None,
        "temperature": None,
        "power_w": None,
        "links": {},
        "parent": None,
        "make": make,
        "processes": [],
        "fault": fault,  # why it cannot be read
        "repair": None,  # why it should not be used before it is reset
        "ecc_errors": None,  # uncorrected ones, since the driver was loaded
    }
