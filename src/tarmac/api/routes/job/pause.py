"""Running jobs: pause and resume them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import selected_own
from tarmac.api.schemas.job.selection import NotPaused, PauseAnswer, PauseRequest, ResumeAnswer, Selection
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.controller.engine.decision import Decision
from tarmac.core.events import JobsPaused, JobsResumed
from tarmac.core.handlers.attempts.pausing import clock_runs_on
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Paused, is_working, state_name

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.state import State


async def pause_jobs(context: Context, body: PauseRequest) -> PauseAnswer:
    """Freeze the processes of running jobs. They keep their GPUs, and their time limits wait, too."""
    numbers = selected_own(context, body)

    def plan(state: State) -> Decision[PauseAnswer]:
        found = [state.jobs[number] for number in map(JobId, numbers) if number in state.jobs]
        is_refused = {job.id: not body.count_paused and clock_runs_on(state, job) for job in found}
        to_pause = tuple(job.id for job in found if is_working(job.status) and not is_refused[job.id])
        paused = {*to_pause, *(job.id for job in found if isinstance(job.status, Paused))}
        others = _others(context.controller, numbers, paused)
        for one in others:
            if is_refused.get(JobId(one.id)):
                one.reason = say("pause.clock_runs_on")
        event = JobsPaused(jobs=to_pause, by=context.caller.name, is_counted=body.count_paused)
        return Decision(
            answer=PauseAnswer(paused=sorted(paused), not_running=others), events=[event] if to_pause else ()
        )

    return await context.decide(plan)


async def resume_jobs(context: Context, body: Selection) -> ResumeAnswer:
    """Let paused jobs go on."""
    numbers = selected_own(context, body)

    def plan(state: State) -> Decision[ResumeAnswer]:
        found = [state.jobs[number] for number in map(JobId, numbers) if number in state.jobs]
        paused = tuple(job.id for job in found if isinstance(job.status, Paused))
        others = _others(context.controller, numbers, set(paused))
        event = JobsResumed(jobs=paused, by=context.caller.name)
        return Decision(
            answer=ResumeAnswer(resumed=sorted(paused), not_paused=others), events=[event] if paused else ()
        )

    return await context.decide(plan)


def _others(controller: Controller, numbers: list[int], done: set[JobId]) -> list[NotPaused]:
    left = [number for number in numbers if number not in done]
    return [NotPaused(id=job.id, state=state_name(job.status)) for job in controller.jobs(left)]
