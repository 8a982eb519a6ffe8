"""Check a decision once more against the newest state before it is committed.

Counts bookings independently of `placement` on purpose, so that a defect in one is caught by the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.fit.gpu_fit import UNKNOWN_MEMORY_BYTES
from tarmac.core.model.status import Queued

if TYPE_CHECKING:
    from tarmac.core.model.gpu import BookedGpu
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State


def refusal(state: State, job: Job, booking: Booking) -> str | None:
    """Why this start must not happen, for a developer; None if it may."""
    if not isinstance(job.status, Queued) or state.jobs.get(job.id) is not job:
        return f"job {job.id} does not wait"
    if len(set(booking.nodes)) != job.spec.request.node_count:
        return f"{len(set(booking.nodes))} nodes planned, {job.spec.request.node_count} asked"
    reasons = (_refusal_there(state, job, place.node, place.gpus) for place in booking.places)
    return next((reason for reason in reasons if reason is not None), None)


def _refusal_there(state: State, job: Job, name: NodeName, gpus: tuple[BookedGpu, ...]) -> str | None:
    node = state.nodes.get(name)
    uuids = {gpu.uuid for gpu in gpus}
    if node is None or not node.is_connected:
        return f"node {name} is out of reach"
    if (closed := _node_refusal(node, job.spec.request)) is not None:
        return closed
    if len(uuids) != job.spec.request.gpus:
        return f"{len(uuids)} GPUs planned, {job.spec.request.gpus} asked"
    for gpu in gpus:
        if (reason := _gpu_refusal(node, gpu)) is not None:
            return reason
    slots = state.rules.max_cpu_jobs or node.cpu_job_slots
    if not uuids and sum(not request.gpus for request in node.host.values()) >= slots:
        return f"all {slots} slots for jobs without GPUs are taken"
    return None


def _node_refusal(node: Node, request: Request) -> str | None:
    if node.drain is not None:
        return f"node {node.name} is drained"
    if node.is_watch_only:
        return f"node {node.name} is only watched"
    if (request.only_nodes and node.name not in request.only_nodes) or node.name in request.exclude_nodes:
        return f"node {node.name} was not asked for"
    if node.name in request.nodes_lacking:
        return f"node {node.name} lacks files of the job"
    return None


def _gpu_refusal(node: Node, wanted: BookedGpu) -> str | None:
    gpu = node.gpus.get(wanted.uuid)
    held = node.booked.get(wanted.uuid, {})
    if gpu is None:
        return f"GPU {wanted.uuid} is not on node {node.name}"
    if wanted.uuid in node.drains:
        return f"GPU {wanted.uuid} is drained"
    if any(other.memory_bytes == 0 or wanted.memory_bytes == 0 for other in held.values()):
        return f"GPU {wanted.uuid} is booked by job {next(iter(held))}"
    if wanted.parent in node.booked or any(
        other.parent == wanted.uuid for others in node.booked.values() for other in others.values()
    ):
        return f"GPU {wanted.uuid} is booked as a whole or in parts"
    booked = sum(other.memory_bytes for other in held.values())
    if booked + wanted.memory_bytes > (gpu.memory_total_bytes or UNKNOWN_MEMORY_BYTES):
        return f"GPU {wanted.uuid} would be booked over its memory"
    return None
