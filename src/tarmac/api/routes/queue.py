"""The queue as a whole: show, pause, drain, stop and resume it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.schemas.queue import QueueRequest, QueueStopAnswer, QueueStopRequest, QueueView, ResumeRequest
from tarmac.api.views.queue import queue_view
from tarmac.controller.engine.decision import Decision
from tarmac.controller.requests.permissions import need_admin
from tarmac.core.events import OwnersResumed, QueueDrained, QueuePaused, QueueResumed, QueueStopped
from tarmac.core.model.status import Running, Starting, Stopping
from tarmac.refusal import conflict, invalid

if TYPE_CHECKING:
    from tarmac.controller.requests.permissions import Caller
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
    caller = context.caller
    resumption(context.controller.state, caller, body.owner)  # refuse before anything is decided
    await context.carry_out(lambda state: Decision(answer=None, events=resumption(state, caller, body.owner)))
    return queue_view(context.controller)


def resumption(state: State, caller: Caller, owner: str | None) -> list[Event]:
    """What a resume by this caller does; `owner`: only the suspended jobs of this user."""
    meant = owner or caller.name
    if meant != caller.name:
        need_admin(caller, "queue")
    if owner is not None and owner not in state.suspended:
        raise conflict("queue.not_suspended", owner=owner)
    if meant not in state.suspended:
        need_admin(caller, "queue")
    if owner is not None or not caller.is_admin:
        return [OwnersResumed(owners=(meant,), by=caller.name)]
    owners = tuple(sorted(state.suspended))
    suspended: list[Event] = [OwnersResumed(owners=owners, by=caller.name)] if owners else []
    return [*suspended, QueueResumed(by=caller.name)]


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
