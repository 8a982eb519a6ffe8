"""Jobs: submit, list and show them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from tarmac.api.answers import json_answer
from tarmac.api.deps import Context
from tarmac.api.schemas.job.job import WholeJobView
from tarmac.api.schemas.job.jobs import JobPage, JobsQuery, Story, StoryEvent, SubmitAnswer
from tarmac.api.schemas.job.selection import Selection
from tarmac.api.views.job import Viewer, checked_fields
from tarmac.api.views.start import start_view
from tarmac.api.wording.hints import memory_hint_words
from tarmac.api.wording.notes import story_detail
from tarmac.api.wording.times import iso
from tarmac.controller.accounts.memory import PastMemory
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import need_admin, refuse_others_jobs
from tarmac.controller.requests.selectors import job_filter, job_number
from tarmac.controller.submit.checks import Defaults, checked_specs
from tarmac.controller.submit.dependencies import Dependencies
from tarmac.controller.submit.environment.environment import Environments
from tarmac.controller.submit.environment.python_env import with_environments
from tarmac.controller.submit.groups import plan_group
from tarmac.controller.submit.hints import memory_hints
from tarmac.controller.submit.paths.output_files import refuse_shared_outputs
from tarmac.controller.submit.paths.path_templates import IdsMoved, with_paths
from tarmac.controller.submit.paths.paths import check_submitted_paths
from tarmac.controller.submit.request import SubmitRequest, is_for_admins
from tarmac.controller.submit.snapshots import SubmittedSnapshots
from tarmac.controller.submit.submissions import Token
from tarmac.core.events import JobsSubmitted
from tarmac.core.limits import refusal_at_submit
from tarmac.core.model.status import Queued, holds_booking
from tarmac.records import dataclass
from tarmac.refusal import conflict, invalid, not_found, unavailable

FROM_AGENTS = frozenset({"progress", "estimated_start", "estimate_basis", "estimate_rests_on"})

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.submit.groups import GroupPlan
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.model.snapshot import Snapshot
    from tarmac.core.state import State
    from tarmac.store.environments.environments import StoredEnvironment
    from tarmac.store.reader import JobFilter


TRIES_BESIDE_OTHERS = 5  # before other submits wait
MOST_TRIES = 50  # to get the ids that output files are named after


@dataclass(frozen=True, slots=True)
class Submitted:
    """`ids` is empty for a dry run, `first` is None for a repetition."""

    ids: range
    hints: list[str]
    count: int
    first: JobSpec | None


async def submit(context: Context, body: SubmitRequest) -> Response:
    """Queue one or many jobs, all or none. They are on disk before the answer is sent.

    The answer to a dry run says when the first job would start.
    """
    done = await submit_jobs(context, body)
    is_new = bool(done.ids) and done.first is not None
    answer = SubmitAnswer(ids=list(done.ids), hints=done.hints)
    if body.dry_run and done.first is not None:
        answer.start = start_view(context.controller, done.first, body.entry)
    return json_answer(answer, 201 if is_new else 200)


async def submit_jobs(context: Context, body: SubmitRequest) -> Submitted:
    controller, caller = context.controller, context.caller.name
    token = None if body.token is None else Token(caller, body.token)
    if (known := controller.submissions.answered(token)) is not None:
        return Submitted(known, [], len(known), None)
    if any(map(is_for_admins, body.jobs)):
        need_admin(context.caller, "urgent")
    group = plan_group(body)
    environments = Environments(body, controller.store.pack_environment, None if group is None else group.array_count)
    settings = controller.settings.in_force
    past = PastMemory(controller.store.reader)
    checked = await checked_specs(
        body,
        owner=caller,
        environments=environments,
        defaults=Defaults(settings.grace_s, settings.retries),
        state=controller.state,
        dependencies=Dependencies(controller.state, controller.store.reader, caller, siblings=len(body.jobs)),
        past=past,
        targets=controller.targets,
        snapshots=SubmittedSnapshots(body, is_default=settings.snapshot),
    )
    checked = await with_environments(checked, body.environment, controller.state, controller.fleet)
    ids = await _accepted(context, body, checked, group, environments.packed, token)
    hints = memory_hints(body.jobs, checked, past, controller.state)
    count = len(body.jobs) if group is None else group.count
    return Submitted(ids, [memory_hint_words(hint) for hint in hints], count, checked[0])


async def _accepted(
    context: Context,
    body: SubmitRequest,
    checked: tuple[JobSpec, ...],
    group: GroupPlan | None,
    environments: dict[str, StoredEnvironment],
    token: Token | None,
) -> range:
    """The ids, once the jobs are on disk; none for a dry run. Repeated if output files are named after moved ids."""
    with suppress(IdsMoved):
        return await _tried(context, body, checked, group, environments, token, TRIES_BESIDE_OTHERS)
    with suppress(IdsMoved):
        async with context.controller.submissions.alone():
            return await _tried(context, body, checked, group, environments, token, MOST_TRIES, is_alone=True)
    raise unavailable("submit.ids_moved")


async def _tried(
    context: Context,
    body: SubmitRequest,
    checked: tuple[JobSpec, ...],
    group: GroupPlan | None,
    environments: dict[str, StoredEnvironment],
    token: Token | None,
    tries: int,
    *,
    is_alone: bool = False,
) -> range:
    """Raises IdsMoved if other jobs got the ids each time."""
    controller = context.controller
    templates = checked if group is None else group.specs_of(checked)
    is_named_by_id = any(job.fill_paths for job in body.jobs)
    for _ in range(tries):
        first = controller.state.next_id
        specs = with_paths(templates, body.jobs, group, first) if is_named_by_id else templates
        missing = await check_submitted_paths(
            specs if is_named_by_id else checked,
            controller.state,
            controller.fleet,
            controller.output_files,
            controller.own_directories,
        )
        specs = missing.avoided_by_all(specs)
        check = _last_check(
            controller,
            specs,
            {spec.snapshot for spec in checked if spec.snapshot is not None},
            has_outputs=any(spec.outputs for spec in checked),
            bodies=len(body.jobs),
        )
        if body.dry_run:
            check(controller.state)
            return range(0)
        event = JobsSubmitted(
            specs=specs,
            is_group=group is not None,
            indices=() if group is None else group.indices,
            entry=body.entry,
            by=context.caller.name,
        )
        with suppress(IdsMoved):
            return await controller.submissions.submit(
                event, environments, token, check, group, first if is_named_by_id else None, is_alone=is_alone
            )
    raise IdsMoved


def _last_check(
    controller: Controller,
    specs: tuple[JobSpec, ...],
    snapshots: set[Snapshot],
    *,
    has_outputs: bool,
    bodies: int,
) -> Callable[[State], None]:
    def check(state: State) -> None:
        refuse_too_many(state, specs)
        for snapshot in snapshots:
            controller.snapshots.require(snapshot)
        if has_outputs:
            refuse_shared_outputs(specs, state, controller.output_files, bodies=bodies)

    return check


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
        ids=words_of(query.ids),
        state=query.state,
        owner=query.owner,
        name=query.name,
        tag=query.tag,
        group=query.group,
        node=query.node,
        is_alone=query.alone,
    )
    # One more than asked for tells whether there is a next page.
    numbers = reader.select_ids(wanted, after=query.after, limit=query.limit + 1, descending=query.order == "desc")
    page = numbers[: query.limit]
    following = page[-1] if len(numbers) > query.limit else None
    if fields == ("id",):
        ids: list[Any] = [{"id": number} for number in page]
        return JobPage(jobs=ids, next=following)
    jobs = controller.jobs(page)
    if not FROM_AGENTS.isdisjoint(fields):
        await renew(controller, jobs)
    viewer = Viewer(controller)
    rows: list[Any] = viewer.fields(jobs, fields)
    return JobPage(jobs=rows, next=following)


async def show_job(context: Context, word: str) -> WholeJobView:
    """Show one job with all its fields. `last` is the caller's newest job."""
    job = find_job(context, word)
    await renew(context.controller, [job])
    await context.controller.start_waits.refresh(job)
    return Viewer(context.controller, is_fresh=True).whole_job(job)


async def renew(controller: Controller, jobs: list[Job]) -> None:
    """Read what the agents know about these jobs, and whether they answer. Takes less than a second.

    The start of a waiting job depends on the progress of those that run.
    """
    if any(isinstance(job.status, Queued) for job in jobs):
        jobs = jobs_at_work(controller)
    if any(holds_booking(job.status) is not None for job in jobs):
        await asyncio.gather(controller.progress.refresh(jobs), controller.fleet.check_liveness())


def jobs_at_work(controller: Controller) -> list[Job]:
    return controller.state.booked_jobs()


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


def find_job(context: Context, word: str) -> Job:
    controller = context.controller
    job = controller.job(job_number(controller.store.reader, context.caller.name, word))
    if job is None:
        raise not_found("jobs.unknown", jobs=[word])
    return job


def selected_own(context: Context, selection: Selection) -> list[int]:
    """The selected jobs, if the caller may act on all of them."""
    controller, caller = context.controller, context.caller
    wanted = _wanted(controller, caller.name, selection)
    numbers = _matching(controller, selection, wanted)
    if not caller.is_admin:
        others = controller.store.reader.select_ids(replace(wanted, other_than=caller.name), limit=1)
        refuse_others_jobs(controller.jobs(others), caller)
    return numbers


def selected(controller: Controller, caller: str, selection: Selection) -> list[int]:
    """Refuses a selection that matches nothing. `all` is not an error if no job exists."""
    return _matching(controller, selection, _wanted(controller, caller, selection))


def _wanted(controller: Controller, caller: str, selection: Selection) -> JobFilter:
    if not selection.ids and not _has_filter(selection):
        raise invalid("jobs.none_selected")
    return job_filter(
        controller.store.reader,
        caller,
        ids=selection.ids,
        state=selection.state,
        owner=selection.owner,
        name=selection.name,
        tag=selection.tag,
        group=selection.group,
    )


def _matching(controller: Controller, selection: Selection, wanted: JobFilter) -> list[int]:
    numbers = controller.store.reader.select_ids(wanted)
    if not numbers and (_has_filter(selection) or "all" not in selection.ids):
        raise not_found("jobs.no_match")
    return numbers


def _has_filter(selection: Selection) -> bool:
    return bool(selection.name or selection.tag or selection.state or selection.owner or selection.group)


def words_of(text: str | None) -> list[str]:
    return [] if not text else text.split(",")
