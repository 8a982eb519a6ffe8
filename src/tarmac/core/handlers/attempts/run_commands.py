"""Commands to the node of an attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.commands import AdoptProcess, SignalJob
from tarmac.core.model.status import (
    Starting,
)

if TYPE_CHECKING:
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job


def stop_signal(job: Job, node: NodeName, grace_s: float, *, is_requeued: bool = False) -> SignalJob:
    """A job that will run again is warned first, so that it can save its work."""
    return SignalJob(
        node=node,
        job=job.run.job,
        attempt=job.run.attempt,
        grace_s=grace_s,
        signal=job.spec.signal,
        warn=job.spec.warn if is_requeued else None,
    )


def adopt_process(job: Job, status: Starting, pid: int) -> AdoptProcess:
    return AdoptProcess(
        node=status.booking.node,
        job=job.id,
        attempt=job.attempt,
        pid=pid,
        start_time=status.adopted_start_time,
        uid=status.adopted_uid,
    )
