"""What is told of jobs that wait while nothing can be written: that it is so, and not that their machine seems away.

What memory held was thrown away with the commit that failed, and no machine is listened to until writing works again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.explain import NodeAway, NoNode
from tarmac.core.model.status import Queued

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.explain import Reason
    from tarmac.core.model.job import Job


def unwritten(controller: Controller, job: Job) -> str | None:
    if controller.degraded is None or not isinstance(job.status, Queued):
        return None
    return f"nothing can be written, and nothing starts until it can: {controller.degraded}"


def still_true(controller: Controller, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Without what is only for want of writing."""
    if controller.degraded is None:
        return reasons
    return tuple(reason for reason in reasons if not isinstance(reason, NoNode | NodeAway))
