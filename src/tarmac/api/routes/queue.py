"""The queue as a whole: looked at, paused, drained, stopped and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litestar import get, post
from litestar.params import JSONBody

from tarmac.api import schemas
from tarmac.api.deps import Caller, EngineDep
from tarmac.api.wording.times import iso
from tarmac.controller.engine import Engine, PendingCommit
from tarmac.controller.permissions import need_admin
from tarmac.core.events import QueueDrained, QueuePaused, QueueResumed, QueueStopped
from tarmac.core.model.status import Running, Starting, Stopping
from tarmac.errors import UserError

if TYPE_CHECKING:
    from tarmac.core.events import Event
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


@get("/queue")
async def show_queue(engine: EngineDep, caller: Caller) -> schemas.QueueView:  # noqa: ARG001 - checks the caller
    """Whether anything starts and anything is accepted, and how much waits."""
    return queue_view(engine)


@post("/queue/pause", status_code=200)
async def pause_queue(engine: EngineDep, caller: Caller, data: JSONBody[schemas.QueueRequest]) -> schemas.QueueView:
    """Nothing starts until it is resumed. What runs goes on."""
    return await _changed(engine, caller, QueuePaused(by=caller, reason=data.reason))


@post("/queue/resume", status_code=200)
async def resume_queue(
    engine: EngineDep,
    caller: Caller,
    data: JSONBody[schemas.QueueRequest],  # noqa: ARG001 - a reason does no harm
) -> schemas.QueueView:
    """As usual again, after a pause, a drain or both."""
    return await _changed(engine, caller, QueueResumed(by=caller))


@post("/queue/drain", status_code=200)
async def drain_queue(engine: EngineDep, caller: Caller, data: JSONBody[schemas.QueueRequest]) -> schemas.QueueView:
    """Nothing new is accepted; what waits and runs is worked off."""
    return await _changed(engine, caller, QueueDrained(by=caller, reason=data.reason))


@post("/queue/stop", status_code=200)
async def stop_queue(
    engine: EngineDep, caller: Caller, data: JSONBody[schemas.QueueStopRequest]
) -> schemas.QueueStopAnswer:
    """Pause, ask every running job to stop, and put each back in front of the queue."""
    need_admin(caller, engine.settings, "stop the queue")
    if not data.requeue:
        raise UserError(
            "what is to become of the jobs that run?",
            hint='"requeue": true puts them back in front; POST /jobs/kill ends them',
        )
    running: list[int] = []

    def plan(state: State) -> list[Event]:
        # Noted when it is decided: with no grace, they may be gone before it is on disk.
        running.extend(job.id for job in state.jobs.values() if _is_sent_back(job))
        return [QueueStopped(by=caller, grace_s=data.grace_s)]

    await engine.commit(PendingCommit(plan=plan))
    return schemas.QueueStopAnswer(stopping=running)


def _is_sent_back(job: Job) -> bool:
    """By a stop of the queue, or on its way back already."""
    match job.status:
        case Starting() | Running():
            return not job.spec.is_adopted
        case Stopping(requeue=requeue):
            return requeue is not None
        case _:
            return False


async def _changed(engine: Engine, caller: str, event: Event) -> schemas.QueueView:
    need_admin(caller, engine.settings, "pause, drain and resume the queue")
    await engine.commit(PendingCommit(events=[event]))
    return queue_view(engine)


def queue_view(engine: Engine) -> schemas.QueueView:
    state, mode = engine.state, engine.state.mode
    return schemas.QueueView(
        paused=mode.is_paused,
        draining=mode.is_draining,
        by=mode.by,
        reason=mode.reason,
        since=iso(mode.since),
        queued=queued_count(state),
        running=running_count(state),
        policy=state.rules.policy,
    )


def queued_count(state: State) -> int:
    return len(state.queue) + len(state.blocked)


def running_count(state: State) -> int:
    """Everything that holds its booking."""
    return sum(len(node.host) for node in state.nodes.values())
