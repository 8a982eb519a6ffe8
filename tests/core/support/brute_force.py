"""A brute-force placement: which GPUs of a node fit a request, computed in the simplest way."""

from __future__ import annotations

from collections.abc import Collection

from tarmac.core.model.job import Request
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules


def gpus_that_do(node: Node, request: Request, rules: Rules, gone: Collection[int] = ()) -> list[str] | None:
    """None if the host does not fit. Jobs in `gone` do not count."""
    if node.drain is not None or node.is_watch_only or node.name in request.exclude_nodes:
        return None
    if request.only_nodes and node.name not in request.only_nodes:
        return None
    hosted = [asked for job, asked in node.host.items() if job not in gone]
    if not node.is_connected or (not request.gpus and sum(not asked.gpus for asked in hosted) >= node.cpu_job_slots):
        return None
    if request.cpus and sum(asked.cpus for asked in hosted) + request.cpus > node.cpus:
        return None
    if (
        request.memory_bytes
        and sum(asked.memory_bytes for asked in hosted) + request.memory_bytes > node.memory_total_bytes
    ):
        return None
    return [uuid for uuid in node.gpus if _does(node, uuid, request, rules, gone)]


def _does(node: Node, uuid: str, request: Request, rules: Rules, gone: Collection[int]) -> bool:
    gpu = node.gpus[uuid]  # type: ignore[index]
    size, slots = gpu.memory_total_bytes, node.slots.get(gpu.uuid, 1)
    held = [booked.memory_bytes for job, booked in node.booked.get(gpu.uuid, {}).items() if job not in gone]
    is_shared = request.gpu_memory_bytes is not None or request.gpu_share is not None
    most = size - int(rules.keep_gpu_memory * size) if is_shared else size
    wanted = request.gpu_memory_bytes or int((request.gpu_share or 0) * size) or (size if slots == 1 else size // slots)
    has_model = not request.gpu_models or any(word in gpu.model.lower() for word in request.gpu_models)
    is_large_enough = size >= request.min_gpu_memory_bytes
    is_offered = gpu.uuid not in node.drains and gpu.index not in request.exclude_gpus
    return has_model and is_large_enough and is_offered and 0 not in held and sum(held) + wanted <= most


def fits(node: Node, request: Request, rules: Rules, gone: Collection[int] = ()) -> bool:
    gpus = gpus_that_do(node, request, rules, gone)
    return gpus is not None and len(gpus) >= request.gpus
