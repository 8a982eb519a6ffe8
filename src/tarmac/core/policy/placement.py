"""Where a request goes: the fullest node it fits on, and there the GPUs that leave the most room for wide jobs.

Small jobs are packed, so that whole GPUs and whole nodes stay free; the GPUs of a wide one are near each other.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Protocol

from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.status import Booking
from tarmac.core.policy.gpu_fit import booking_of, refusal_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules
    from tarmac.core.state import State

EVERYTHING: frozenset[GpuUuid] = frozenset({GpuUuid("*")})  # not even a job without GPUs may go there
MOST_SETS = 2000  # of GPUs that are compared for nearness; 8 of 16 would be 12,870


class ExcludesGpus(Protocol):
    """What is held back from a job, node by node."""

    def off(self, node: Node) -> frozenset[GpuUuid]: ...


def place(state: State, request: Request, kept: ExcludesGpus | None = None) -> Booking | None:
    """A booking that may be made now, or None. `kept`: GPUs that fit and are not for this job all the same."""
    for node in state.room.fitting(state.nodes, request, state.rules):
        off = kept.off(node) if kept is not None else None
        gpus = fitting_gpus(node, request, state.rules)
        assert gpus is not None, "a node that fits has GPUs that do"
        if off:
            gpus = [gpu for gpu in gpus if gpu.uuid not in off]
        if len(gpus) >= request.gpus and (off is not EVERYTHING):
            return booking_on(node, gpus, request)
    return None


def booking_on(node: Node, gpus: list[Gpu], request: Request) -> Booking:
    chosen = chosen_gpus(node, gpus, request)
    return Booking(node=node.name, gpus=tuple(booking_of(node, gpu, request) for gpu in chosen))


def fitting_gpus(node: Node, request: Request, rules: Rules) -> list[Gpu] | None:
    """Every GPU that would do now; None where the node as a whole does not."""
    if not node.is_connected or not host_fits(node, request, rules):
        return None
    candidates: Iterable[Gpu] = node.gpus.values()
    if not request.is_shared and not node.slots:  # plain at a glance, and the rule on a busy node
        candidates = [gpu for gpu in candidates if gpu.uuid not in node.booked]
        if len(candidates) < request.gpus:
            return None
    gpus = [gpu for gpu in candidates if refusal_of(node, gpu, request, rules) is None]
    return gpus if len(gpus) >= request.gpus else None


def fits(node: Node, request: Request, rules: Rules) -> bool:
    return fitting_gpus(node, request, rules) is not None


def host_fits(node: Node, request: Request, rules: Rules) -> bool:
    if request.gpus == 0 and cpu_jobs(node) >= cpu_slots(node, rules):
        return False
    if is_short_of_memory(node, rules):
        return False
    if request.cpus and not has_room(booked_cpus(node), request.cpus, node.cpus):
        return False
    asked = request.memory_bytes
    return not asked or has_room(booked_memory_bytes(node), asked, node.memory_total_bytes)


def has_room(booked: int, asked: int, total: int) -> bool:
    """A total of 0 is not known, so not counted."""
    return not asked or not total or booked + asked <= total


def is_short_of_memory(node: Node, rules: Rules) -> bool:
    if node.memory_available_bytes is None or not node.memory_total_bytes:
        return False
    return node.memory_available_bytes < rules.keep_host_memory * node.memory_total_bytes


def cpu_slots(node: Node, rules: Rules) -> int:
    return rules.max_cpu_jobs or node.cpu_job_slots


def cpu_jobs(node: Node) -> int:
    return sum(request.gpus == 0 for request in node.host.values())


def booked_cpus(node: Node) -> int:
    return sum(request.cpus for request in node.host.values())


def booked_memory_bytes(node: Node) -> int:
    return sum(request.memory_bytes for request in node.host.values())


def chosen_gpus(node: Node, gpus: list[Gpu], request: Request) -> list[Gpu]:
    """Of those that fit. Shared: the fullest first. Whole: the set that is nearest to each other, else lowest index."""
    if request.is_shared or request.gpus <= 1:
        return sorted(gpus, key=lambda gpu: (-_booked_bytes(node, gpu), gpu.index))[: request.gpus]
    if len(gpus) == request.gpus or not any(gpu.links for gpu in gpus):
        return gpus[: request.gpus]
    nearest = max(islice(combinations(gpus, request.gpus), MOST_SETS), key=_nearness)
    return list(nearest)


def _booked_bytes(node: Node, gpu: Gpu) -> int:
    return sum(booked.memory_bytes for booked in node.booked.get(gpu.uuid, {}).values())


def _nearness(gpus: tuple[Gpu, ...]) -> tuple[int, int]:
    """The weakest link counts first: a job that spans it runs at its pace."""
    uuids = {gpu.uuid for gpu in gpus}
    links = [level for gpu in gpus for other, level in gpu.links if other in uuids]
    is_whole = len(links) == len(gpus) * (len(gpus) - 1)
    return (min(links, default=0) if is_whole else 0, sum(links))
