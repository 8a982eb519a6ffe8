"""Where a request fits right now: whole GPUs, the lowest free indices, first node that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model import BookedGpu, Booking

if TYPE_CHECKING:
    from tarmac.core.model import Gpu, Node, Request
    from tarmac.core.state import State


def place(state: State, request: Request) -> Booking | None:
    for node in state.nodes.values():
        if fits(node, request):
            return Booking(node=node.name, gpus=tuple(_booked(gpu) for gpu in node.free_gpus()[: request.gpus]))
    return None


def fits(node: Node, request: Request) -> bool:
    if not node.is_connected:
        return False
    if request.gpus == 0:
        return len(node.cpu_jobs) < node.cpu_job_slots
    return len(node.free_gpus()) >= request.gpus


def could_ever_fit(state: State, request: Request) -> bool:
    """With everything on the nodes idle. While no node has told what it has, nobody can say, so it may wait."""
    nodes = state.nodes.values()
    return not nodes or any(not node.has_told_gpus or len(node.gpus) >= request.gpus for node in nodes)


def _booked(gpu: Gpu) -> BookedGpu:
    return BookedGpu(uuid=gpu.uuid, index=gpu.index)
