"""Does a request fit on a node, on which of its GPUs, and which of those are best?

Small jobs are packed, so that whole GPUs stay free; the GPUs of a wide job are close to each other.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING

from tarmac.core.fit.closure import closure
from tarmac.core.fit.gpu_fit import booking_of, has_conditions, is_plainly_free, refusal_of
from tarmac.core.model.status import Booking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules

MAX_COMBINATIONS = 2000  # sets of GPUs compared for closeness; 8 of 16 would be 12,870


def fits(node: Node, request: Request, rules: Rules) -> bool:
    return fitting_gpus(node, request, rules) is not None


def fitting_gpus(node: Node, request: Request, rules: Rules) -> list[Gpu] | None:
    """Every GPU the request could use now; None if the node as a whole cannot take it."""
    if closure(node, request) is not None or not host_fits(node, request, rules):
        return None
    candidates: Iterable[Gpu] = node.gpus.values()
    if not request.is_shared and not node.slots:  # the common case on a busy node, decided cheaply
        candidates = [gpu for gpu in candidates if gpu.uuid not in node.booked]
        if len(candidates) < request.gpus:
            return None
    is_plain = not request.is_shared and not has_conditions(request)
    gpus = [
        gpu
        for gpu in candidates
        if (is_plain and is_plainly_free(node, gpu)) or refusal_of(node, gpu, request, rules) is None
    ]
    return gpus if len(gpus) >= request.gpus else None


def host_fits(node: Node, request: Request, rules: Rules) -> bool:
    if request.gpus == 0 and cpu_jobs(node) >= cpu_slots(node, rules):
        return False
    if is_short_of_memory(node, rules):
        return False
    if request.cpus and not has_capacity(booked_cpus(node), request.cpus, node.cpus):
        return False
    asked = request.memory_bytes
    return not asked or has_capacity(booked_memory_bytes(node), asked, node.memory_total_bytes)


def has_capacity(booked: int, asked: int, total: int) -> bool:
    """A total of 0 is unknown and therefore not enforced."""
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


def booking_on(node: Node, gpus: list[Gpu], request: Request) -> Booking:
    chosen = chosen_gpus(node, gpus, request)
    return Booking(node=node.name, gpus=tuple(booking_of(node, gpu, request) for gpu in chosen))


def chosen_gpus(node: Node, gpus: list[Gpu], request: Request) -> list[Gpu]:
    """The best of the fitting GPUs. Shared: the fullest first. Whole: the closest set, else the lowest indices."""
    if request.is_shared or request.gpus <= 1:
        return sorted(gpus, key=lambda gpu: (-_booked_bytes(node, gpu), gpu.index))[: request.gpus]
    if len(gpus) == request.gpus or not any(gpu.links for gpu in gpus):
        return gpus[: request.gpus]
    closest = max(islice(combinations(gpus, request.gpus), MAX_COMBINATIONS), key=_closeness)
    return list(closest)


def _booked_bytes(node: Node, gpu: Gpu) -> int:
    return sum(booked.memory_bytes for booked in node.booked.get(gpu.uuid, {}).values())


def _closeness(gpus: tuple[Gpu, ...]) -> tuple[int, int]:
    """The weakest link counts first: a job that spans it runs at its pace."""
    uuids = {gpu.uuid for gpu in gpus}
    links = [level for gpu in gpus for other, level in gpu.links if other in uuids]
    is_complete = len(links) == len(gpus) * (len(gpus) - 1)
    return (min(links, default=0) if is_complete else 0, sum(links))
