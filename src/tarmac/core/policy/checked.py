"""A plan looked at once more, against the newest state, before it is kept.

Written apart from `placed` on purpose: the two must agree, and a fault in one does not pass the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model import Queued

if TYPE_CHECKING:
    from tarmac.core.model import Booking, Job
    from tarmac.core.state import State


def refusal(state: State, job: Job, booking: Booking) -> str | None:
    """Why this start must not happen, or None."""
    node = state.nodes.get(booking.node)
    uuids = {gpu.uuid for gpu in booking.gpus}
    if not isinstance(job.status, Queued) or state.jobs.get(job.id) is not job:
        return f"job {job.id} does not wait"
    if node is None or not node.is_connected:
        return f"node {booking.node} is out of reach"
    if len(uuids) != job.spec.request.gpus:
        return f"{len(uuids)} GPUs planned, {job.spec.request.gpus} asked"
    if taken := [uuid for uuid in uuids if uuid in node.booked]:
        return f"GPU {taken[0]} is booked by job {node.booked[taken[0]]}"
    if missing := [uuid for uuid in uuids if uuid not in node.gpus]:
        return f"GPU {missing[0]} is not on node {node.name}"
    if not uuids and len(node.cpu_jobs) >= node.cpu_job_slots:
        return f"all {node.cpu_job_slots} slots for jobs without GPUs are taken"
    return None
