"""Run jobs again that have ended, each as the next attempt of the same job."""

from __future__ import annotations

import asyncio
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import msgspec

from tarmac.api.deps import Context
from tarmac.api.routes.job.in_parts import JOBS_AT_ONCE, Part, all_but_the_last_part, read_in_parts, select_once
from tarmac.api.routes.job.jobs import refuse_too_many
from tarmac.api.schemas.job.selection import NotRetried, RetryAnswer, RetryRequest
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.notes import status_message
from tarmac.api.wording.refusals import refusal
from tarmac.api.wording.why.degraded import wait_words
from tarmac.controller.engine.decision import Decision
from tarmac.controller.submit.checks import refuse_infeasible
from tarmac.controller.submit.paths.output_files import refuse_shared_outputs
from tarmac.core.events import JobsRetried
from tarmac.core.model.status import Draft, Failed, Held, Queued, is_ended, state_name
from tarmac.refusal import conflict, invalid, not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import JobId
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
        default = context.caller.name if body.group is None else None
        body = msgspec.structs.replace(body, ids=ids, state="failed", owner=body.owner or default)
    progress = await select_once(context, body)
    refusals: dict[JobId, Refused] = {}

    def retry(state: State, part: Sequence[int]) -> Part:
        able, refused = _sorted_out(controller, controller.jobs(list(part)))
        waiting = [job for job in able if _waits(job)]
        again = [job for job in able if not _waits(job)]
        _refuse_impossible(controller, state, again)
        refusals.update(refused)
        event = JobsRetried(by=context.caller.name, jobs=tuple(again), waiting=tuple(job.id for job in waiting))
        return Part([job.id for job in able], [event] if able else ())

    def plan(state: State) -> Decision[RetryAnswer]:
        part = retry(state, last)
        retried = sorted([*progress.done, *part.done])
        if progress.numbers and not retried and not refusals:
            raise not_found("jobs.unknown", jobs=progress.numbers)  # they were removed meanwhile
        if refusals and not retried:
            raise next(iter(refusals.values()))
        others = [NotRetried(id=number, reason=refusal(one).message) for number, one in refusals.items()]
        return Decision(answer=RetryAnswer(retried=retried, not_retried=others), events=part.events)

    last: Sequence[int] = progress.rest
    if len(last) > JOBS_AT_ONCE:
        last = await all_but_the_last_part(context, progress, await _checked(controller, last), retry)
    answer = await context.decide(plan, is_begun=progress.is_begun)
    notice = _failed_again(controller.jobs(answer.retried)) or wait_words(controller, answer.retried)
    return msgspec.structs.replace(answer, notice=notice)


async def _checked(controller: Controller, numbers: Sequence[int]) -> list[int]:
    """Check very many jobs before the first of them is retried. Return them with dependents last."""
    again: list[Job] = []
    async for jobs in read_in_parts(controller, numbers):
        able, _ = _sorted_out(controller, jobs)
        again += [job for job in able if not _waits(job)]
    _refuse_impossible(controller, controller.state, again)
    dependents = await asyncio.to_thread(dependencies_first, [job for job in again if job.spec.after])
    are_last = set(dependents)
    return [*(number for number in numbers if number not in are_last), *dependents]


def dependencies_first(jobs: Sequence[Job]) -> list[int]:
    """Their ids, each after those that it depends on: a job fails at once if these have not been retried."""
    ids = {job.id for job in jobs}
    order = TopologicalSorter({job.id: [after.job for after in job.spec.after if after.job in ids] for job in jobs})
    return list(order.static_order())


def _sorted_out(controller: Controller, jobs: Sequence[Job]) -> tuple[list[Job], dict[JobId, Refused]]:
    """The jobs that can be retried, and why others cannot."""
    refusals = {job.id: refused for job in jobs if (refused := refusal_of(job) or lost_code(controller, job))}
    return [job for job in jobs if job.id not in refusals], refusals


def _failed_again(jobs: Sequence[Job]) -> str | None:
    """About a job that failed at once, because one that it depends on has not been retried."""
    for job in jobs:
        if isinstance(job.status, Failed) and job.status.reason == "dependency":
            ids = sorted({job.id, *(after.job for after in job.spec.after if not after.is_met)})
            return say("retry.failed_again", job=job.id, reason=status_message(job), ids=ids)
    return None


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


def lost_code(controller: Controller, job: Job) -> Refused | None:
    """Its snapshot may have been removed long after its end."""
    snapshot = job.spec.snapshot
    if snapshot is None or controller.snapshots.has(snapshot.tree):
        return None
    return conflict("snapshot.removed", job=job.id)


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
        refuse_infeasible(state, request)
    refuse_shared_outputs(specs, state, controller.output_files)
