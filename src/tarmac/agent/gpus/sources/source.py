"""The interface of a GPU source. A machine may have several: each reads GPUs of one make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Dict, List, NamedTuple, Optional, Protocol, Sequence

from tarmac.agent.gpus.gpu_processes import ProcessTable
from tarmac.agent.gpus.heartbeat import Heartbeat

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu, XidFrame
    from tarmac.shared.frames.to_controller import GpuMake


class Absent(Exception):
    """The driver is not available. The text says what to do about it; empty where that is normal."""


class Reading(NamedTuple):
    gpus: List[ProbedGpu]
    divided: Sequence[str] = ()  # uuids of GPUs that exist only as the MIG instances they are divided into
    xids: Sequence[XidFrame] = ()  # errors that the driver reported since the last reading


class Source(Protocol):
    make: GpuMake
    name: str  # as the frame has it

    def read(self) -> Reading:
        """Read all GPUs. One that fails is included with its `fault`. Raises Absent."""
        ...


class SourceContext:
    """What the sources share, and which GPUs a source has to skip."""

    def __init__(
        self,
        heartbeat: Heartbeat,
        *,
        slow_s: float,
        skip: Optional[Dict[int, Optional[str]]] = None,
        only: Optional[Collection[int]] = None,
    ) -> None:
        self.processes = ProcessTable()
        self.slow_s = slow_s  # between two readings of slowly changing values: error counts, MIG mode
        self.heartbeat = heartbeat
        self.skip = dict(skip or {})  # index → uuid if known
        self.only = only  # None: all


def new_gpu(
    index: int,
    uuid: Optional[str],
    model: str,
    *,
    make: GpuMake,
    total: int = 0,
    used: Optional[int] = None,
    fault: Optional[str] = None,
) -> ProbedGpu:
    """A GPU with everything else unknown."""
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
        "fault": fault,
        "repair": None,
        "ecc_errors": None,
    }
