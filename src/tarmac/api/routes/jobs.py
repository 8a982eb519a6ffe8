"""Jobs: submit, list, show, await, kill and remove them."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from tarmac.api.answers import json_answer
from tarmac.api.deps import Context
from tarmac.api.schemas.job import WholeJobView
from tarmac.api.schemas.jobs import JobPage, JobsQuery, Story, StoryEvent, SubmitAnswer, WaitAnswer, WaitQuery
from tarmac.api.schemas.selection import KillAnswer, KillRequest, RemoveAnswer, Selection
from tarmac.api.views.job import Viewer, checked_fields
from tarmac.api.wording.degraded import degraded_words, wait_words
from tarmac.api.wording.hints import hint_words
from tarmac.api.wording.notes import story_detail
from tarmac.api.wording.times import iso
from tarmac.controller.accounts.memory import PastMemory
from tarmac.controller.controller import Controller
from tarmac.controller.decision import Decision
from tarmac.controller.log_paths import OLDER, default_log
from tarmac.controller.requests.permissions import need_admin, refuse_others_jobs
from tarmac.controller.requests.selectors import job_filter, job_number
from tarmac.controller.submit.checks import Defaults, checked_specs
from tarmac.controller.submit.dependencies import Dependencies
from tarmac.controller.submit.environment import Environments
from tarmac.controller.submit.hints import memory_hints
from tarmac.controller.submit.output_files import refuse_shared_outputs
from tarmac.controller.submit.paths import refuse_bad_paths
from tarmac.controller.submit.request import SubmitRequest, is_for_admins
from tarmac.controller.submit.submissions import Token
from tarmac.core.events import JobsSubmitted, StopAsked
from tarmac.core.limits import refusal_at_submit
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued, holds_booking, is_ended
from tarmac.refusal import conflict, invalid, not_found

FROM_AGENTS = frozenset({"progress", "estimated_start", "estimate_basis", "estimate_rests_on"})

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.state import State


MOST_WATCHED = 1000  # jobs of one request that are watched one by one


async def submit(context: Context, body: SubmitRequest) -> Response:
    """Queue one or many jobs, all or none. They are on disk before the answer is sent."""
    controller, caller = context.controller, context.caller.name
    token = None if body.token is None else Token(caller, body.token)
    if (known := controller.submissions.answered(token)) is not None:
        return json_answer(SubmitAnswer(ids=list(known)), 200)
    if any(map(is_for_admins, body.jobs)):
        need_admin(context.caller, "urgent")
    environments, settings = Environments(body), controller.settings.in_force
    past = PastMemory(controller.store.reader)
    specs = checked_specs(
        body,
        owner=caller,
        environments=environments,
        defaults=Defaults(settings.grace_s, settings.retries),
        state=controller.state,
        dependencies=Dependencies(controller.state, controller.store.reader, caller, siblings=len(body.jobs)),
        past=past,
        targets=controller.targets,
    )
    await refuse_bad_paths(
        specs, controller.state, controller.fleet, controller.output_files, controller.own_directories
    )
    event = JobsSubmitted(specs=specs, is_array=body.array, entry=body.entry, by=caller)

    def check(state: State) -> None:
        refuse_too_many(state, specs)
        refuse_shared_outputs(specs, state, controller.output_files)

    ids = await controller.submissions.submit(event, environments.packed, token, check)
    hints = memory_hints(body.jobs, specs, past, controller.state)
    return json_answer(SubmitAnswer(ids=list(ids), hints=[hint_words(hint) for hint in hints]), 201)


def refuse_too_many(state: State, specs: tuple[JobSpec, ...]) -> None:
    """Check the limits when the decision is made: other submits may have come first."""
    mode = state.mode
    if mode.is_draining:
        raise conflict("queue.draining", is_paused=mode.is_paused, by=mode.by or "Tarmac", reason=mode.reason)
    if (reached := refusal_at_submit(state, specs)) is not None:
        raise invalid("submit.over_limit", reached=reached)


async def list_jobs(context: Context, query: JobsQuery) -> JobPage:
    """List jobs by id. Pass `next` of one page as `after` to get the next page."""
    controller, reader = context.controller, context.controller.store.reader
    fields = checked_fields(query.fields)
    wanted = job_filter(
        reader,
        context.caller.name,
        ids=_words(query.ids),
        state=query.state,
        owner=query.owner,
        name=query.name,
        tag=query.tag,
    )
    # One more than asked for tells whether there is a next page.
    numbers = reader.select_ids(wanted, after=query.after, limit=query.limit + 1, descending=query.order == "desc")
    page = numbers[: query.limit]
    jobs = controller.jobs(page)
    if fields is None or not FROM_AGENTS.isdisjoint(fields):
        await _renew(controller, jobs)
    viewer = Viewer(controller)
    rows: list[Any] = [viewer.job(job) for job in jobs] if fields is None else viewer.fields(jobs, fields)
    return JobPage(jobs=rows, next=page[-1] if len(numbers) > query.limit else None)


async def show_job(context: Context, word: str) -> WholeJobView:
    """Show one job with all its fields. `last` is the caller's newest job."""
    job = find_job(context, word)
    await _renew(context.controller, [job])
    await context.controller.start_waits.refresh(job)
    return Viewer(context.controller, is_fresh=True).whole_job(job)


async def _renew(controller: Controller, jobs: list[Job]) -> None:
    """Read what the agents know about these jobs, and whether they answer. Takes less than a second.

    The start of a waiting job depends on the progress of those that run.
    """
    if any(isinstance(job.status, Queued) for job in jobs):
        jobs = jobs_at_work(controller)
    if any(holds_booking(job.status) is not None for job in jobs):
        await asyncio.gather(controller.progress.refresh(jobs), controller.fleet.check_liveness())


def jobs_at_work(controller: Controller) -> list[Job]:
    state = controller.state
    return [state.jobs[number] for node in state.nodes.values() for number in node.host]


async def job_story(context: Context, word: str) -> Story:
    """List what happened to a job, in order."""
    job = find_job(context, word)
    return Story(
        events=[
            StoryEvent(
                id=one.id, at=str(iso(one.at)), attempt=one.attempt, kind=one.kind, detail=story_detail(one.detail)
            )
            for one in context.controller.store.reader.story(job.id)
        ]
    )


async def wait_for_jobs(context: Context, query: WaitQuery) -> WaitAnswer:
    """Return when all jobs have ended, at the timeout with those that have, or when there is something to say."""
    controller, reader = context.controller, context.controller.store.reader
    words = list(_words(query.ids))
    numbers = reader.select_ids(job_filter(reader, context.caller.name, ids=words))
    if not numbers and "all" not in words:
        raise not_found("jobs.no_match")
    pending, notice = [job for job in numbers if not controller.is_ended(job)], query.known
    listener = controller.publisher.listen(pending if len(pending) <= MOST_WATCHED else None)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(query.timeout_s):
                while (
                    pending := [job for job in pending if not controller.is_ended(job)]
                ) and not controller.is_ending:
                    notice = wait_words(controller, pending) or ""
                    if query.known not in {None, notice}:
                        break
                    await listener.take(query.timeout_s)
    finally:
        controller.publisher.unlisten(listener)
    async with controller.publisher.turn():
        viewer = Viewer(controller)
        ended = controller.jobs(sorted(set(numbers) - set(pending)))
        return WaitAnswer(jobs=[viewer.job(job) for job in ended], pending=pending, notice=notice or None)


async def kill_jobs(context: Context, body: KillRequest) -> KillAnswer:
    """Cancel waiting jobs; send running ones TERM, and KILL after the grace period.

    While nothing can be written, running jobs are signalled all the same: one of them may be what fills the disk.
    """
    controller = context.controller
    numbers = selected_own(context, body)
    alive = [number for number in numbers if number in controller.state.jobs]
    asked = set(alive)
    answer = KillAnswer(asked=alive, already_ended=[number for number in numbers if number not in asked])
    if not alive:
        return answer
    await controller.fleet.check_liveness()  # so that the answer can say that the signal comes late
    stop = _stop(alive, context.caller.name, body.grace_s)
    try:
        return await context.decide(lambda _: Decision(answer=answer, events=[stop]))
    except Exception:
        is_writable = controller.degraded is None
        signalled = [] if is_writable else [one.job for one in stop.one_by_one() if controller.signal_now(one)]
        if not signalled:
            raise
        return KillAnswer(
            asked=list(signalled),
            already_ended=answer.already_ended,
            not_asked=[number for number in alive if number not in signalled],
            unwritten=degraded_words(controller),
        )


def _stop(numbers: Sequence[int], caller: str, grace_s: float | None = None) -> StopAsked:
    first, *more = map(JobId, numbers)
    return StopAsked(job=first, by=caller, grace_s=grace_s, more=tuple(more))


async def remove_jobs(context: Context, body: Selection) -> RemoveAnswer:
    """Remove jobs and their logs. Waiting jobs are cancelled; running ones must be killed first."""
    controller = context.controller
    numbers = selected_own(context, body)
    _none_running(controller, numbers)
    jobs: list[Job] = []

    def plan(_: State) -> Decision[RemoveAnswer]:
        # One of them may have started or ended since, or run again.
        jobs.extend(_none_running(controller, numbers))
        waiting = [job.id for job in jobs if not is_ended(job.status)]
        removed: list[JobId] = [job.id for job in jobs]
        events = [_stop(waiting, context.caller.name)] if waiting else []
        return Decision(answer=RemoveAnswer(removed=list(removed)), events=events, removed=removed)

    answer = await context.decide(plan)
    logs = [default_log(controller.state_folder, job.id, nth) for job in jobs for nth in range(1, job.attempt + 1)]
    await asyncio.to_thread(_delete, logs)  # a large file takes a while
    return answer


def _delete(paths: list[str]) -> None:
    for path in paths:
        for file in (path, path + OLDER):
            with suppress(FileNotFoundError):
                os.unlink(file)


def _none_running(controller: Controller, numbers: list[int]) -> list[Job]:
    jobs = controller.jobs(numbers)
    busy = [job.id for job in jobs if not is_ended(job.status) and not isinstance(job.status, Queued | Held | Draft)]
    if busy:
        if controller.degraded is not None:  # they may have ended, and that could not be written
            raise conflict("jobs.maybe_running", jobs=busy, first=busy[0])
        raise conflict("jobs.still_running", jobs=busy, first=busy[0])
    return jobs


def find_job(context: Context, word: str) -> Job:
    controller = context.controller
    job = controller.job(job_number(controller.store.reader, context.caller.name, word))
    if job is None:
        raise not_found("jobs.unknown", jobs=[word])
    return job


def selected_own(context: Context, selection: Selection) -> list[int]:
    """The selected jobs, if the caller may act on all of them."""
    numbers = _selected(context.controller, context.caller.name, selection)
    if not context.caller.is_admin:
        refuse_others_jobs(context.controller.jobs(numbers), context.caller)
    return numbers


def _selected(controller: Controller, caller: str, selection: Selection) -> list[int]:
    """Refuses a selection that matches nothing. `all` is not an error if there are no jobs."""
    has_filter = bool(selection.name or selection.tag or selection.state or selection.owner)
    if not selection.ids and not has_filter:
        raise invalid("jobs.none_selected")
    wanted = job_filter(
        controller.store.reader,
        caller,
        ids=selection.ids,
        state=selection.state,
        owner=selection.owner,
        name=selection.name,
        tag=selection.tag,
    )
    numbers = controller.store.reader.select_ids(wanted)
    if not numbers and (has_filter or "all" not in selection.ids):
        raise not_found("jobs.no_match")
    return numbers


def _words(text: str | None) -> Iterable[str]:
    return () if not text else text.split(",")
