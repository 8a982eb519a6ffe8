"""The queue as a whole: show, pause, drain, stop and resume it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.schemas.queue import QueueRequest, QueueStopAnswer, QueueStopRequest, QueueView, ResumeRequest
from tarmac.api.views.queue import queue_view
from tarmac.controller.decision import Decision
from tarmac.controller.requests.permissions import need_admin
from tarmac.core.events import OwnersResumed, QueueDrained, QueuePaused, QueueResumed, QueueStopped
from tarmac.core.model.status import Running, Starting, Stopping
from tarmac.refusal import conflict, invalid

if TYPE_CHECKING:
    from tarmac.core.events import Event
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


async def show_queue(context: Context) -> QueueView:
    """Show whether jobs start and are accepted, and how many wait and run."""
    return queue_view(context.controller)


async def pause_queue(context: Context, body: QueueRequest) -> QueueView:
    """Start no jobs until the queue is resumed. Running jobs continue."""
    return await _changed(context, QueuePaused(by=context.caller.name, reason=body.reason))


async def resume_queue(context: Context, body: ResumeRequest) -> QueueView:
    """End a pause, a drain or both, and let the jobs of suspended users start again.

    A user who is not an admin resumes their own suspended jobs.
    """
    caller, suspended = context.caller, context.controller.state.suspended
    own = body.owner or caller.name
    if own != caller.name or own not in suspended:
        need_admin(caller, "queue")

    def plan(state: State) -> Decision[None]:
        if body.owner is not None and body.owner not in state.suspended:
            raise conflict("queue.not_suspended", owner=body.owner)
        is_for_all = body.owner is None and caller.is_admin
        owners = tuple(sorted(state.suspended)) if is_for_all else (own,)
        events: list[Event] = [OwnersResumed(owners=owners, by=caller.name)] if owners else []
        return Decision(answer=None, events=[*events, QueueResumed(by=caller.name)] if is_for_all else events)

    await context.carry_out(plan)
    return queue_view(context.controller)


async def drain_queue(context: Context, body: QueueRequest) -> QueueView:
    """Accept no new jobs. Waiting and running jobs are completed."""
    return await _changed(context, QueueDrained(by=context.caller.name, reason=body.reason))


async def stop_queue(context: Context, body: QueueStopRequest) -> QueueStopAnswer:
    """Pause the queue, stop every running job, and requeue each as the first."""
    if not body.requeue:
        raise invalid("queue.stop_needs_requeue")

    def plan(state: State) -> Decision[QueueStopAnswer]:
        # Collected when it is decided: without a grace period, they may be gone before it is on disk.
        running: list[int] = [job.id for job in state.jobs.values() if _is_requeued(job)]
        event = QueueStopped(by=context.caller.name, grace_s=body.grace_s)
        return Decision(answer=QueueStopAnswer(stopping=running), events=[event])

    return await context.decide(plan)


def _is_requeued(job: Job) -> bool:
    """True if a stop of the queue requeues the job, or it is being requeued already."""
    match job.status:
        case Starting() | Running():
            return not job.spec.is_adopted
        case Stopping(requeue=requeue):
            return requeue is not None
        case _:
            return False


async def _changed(context: Context, event: Event) -> QueueView:
    await context.carry_out(lambda _: Decision(answer=None, events=[event]))
    return queue_view(context.controller)
