"""Run jobs again that have ended, each as the next attempt of the same job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tarmac.api.deps import Context
from tarmac.api.routes.jobs import refuse_too_many, selected_own
from tarmac.api.schemas.selection import RetryAnswer, RetryRequest
from tarmac.api.wording.degraded import wait_words
from tarmac.controller.decision import Decision
from tarmac.controller.submit.output_files import refuse_shared_outputs
from tarmac.core.events import JobsRetried
from tarmac.core.model.status import Draft, Held, Queued, is_ended, state_name
from tarmac.core.policy.feasibility import lack
from tarmac.refusal import conflict, invalid, not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job
    from tarmac.core.state import State
    from tarmac.refusal import Refused


async def retry_jobs(context: Context, body: RetryRequest) -> RetryAnswer:
    """Queue ended jobs again. A job that waits between two attempts starts its next one without further delay."""
    controller = context.controller
    if body.failed:
        if body.state is not None:
            raise invalid("retry.failed_and_state")
        ids = body.ids or ["all"]
        body = msgspec.structs.replace(body, ids=ids, state="failed", owner=body.owner or context.caller.name)
    numbers = selected_own(context, body)

    def plan(state: State) -> Decision[RetryAnswer]:
        jobs = controller.jobs(numbers)
        if numbers and not jobs:
            raise not_found("jobs.unknown", jobs=numbers)  # they were removed meanwhile
        again = [job for job in jobs if refusal_of(job) is None and not _waits(job)]
        waiting = [job for job in jobs if _waits(job)]
        others = [job for job in jobs if refusal_of(job) is not None]
        if others and not again and not waiting:
            raise _refusal(others)
        _refuse_impossible(controller, state, again)
        event = JobsRetried(by=context.caller.name, jobs=tuple(again), waiting=tuple(job.id for job in waiting))
        retried: list[int] = [job.id for job in (*again, *waiting)]
        answer = RetryAnswer(retried=sorted(retried), not_retried=[job.id for job in others])
        return Decision(answer=answer, events=[event] if retried else ())

    answer = await context.decide(plan)
    return msgspec.structs.replace(answer, notice=wait_words(controller, answer.retried))


def refusal_of(job: Job) -> Refused | None:
    """Why the job cannot be retried."""
    if _waits(job):
        return None
    if isinstance(job.status, Queued | Held | Draft):
        return conflict("retry.still_waits", job=job.id, state=state_name(job.status))
    if not is_ended(job.status):
        return conflict("retry.not_ended", job=job.id, state=state_name(job.status))
    if job.spec.is_adopted:
        return conflict("retry.adopted", job=job.id)
    return None if job.spec.can_run_again else conflict("retry.no_environment", job=job.id)


def _refusal(others: Sequence[Job]) -> Refused:
    first = refusal_of(others[0])
    assert first is not None
    return first


def _waits(job: Job) -> bool:
    """Does it wait between two attempts?"""
    return isinstance(job.status, Queued) and job.status.retry_at is not None


def _refuse_impossible(controller: Controller, state: State, jobs: Sequence[Job]) -> None:
    """Check what a submit checks: the queue, its limits, the machines, and the files of other jobs."""
    specs = tuple(job.spec for job in jobs)
    if not specs:
        return
    refuse_too_many(state, specs)
    for request in dict.fromkeys(spec.request for spec in specs):
        if (lacking := lack(state, request)) is not None:
            raise invalid("submit.infeasible", lack=lacking, nodes=len(state.nodes))
    refuse_shared_outputs(specs, state, controller.output_files)
