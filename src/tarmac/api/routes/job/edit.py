"""Edit waiting jobs: one, many in the same way, or each in its own way. All or none."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from tarmac.api.deps import Context
from tarmac.api.routes.job.hold import still_waiting
from tarmac.api.routes.job.jobs import find_job, selected_own
from tarmac.api.schemas.job.job import WholeJobView
from tarmac.api.schemas.job.selection import EditAnswer, EditEachRequest, EditManyRequest, Selection
from tarmac.api.views.job import Viewer
from tarmac.controller.engine.decision import Decision
from tarmac.controller.requests.permissions import need_admin, refuse_others_jobs
from tarmac.controller.submit.dependencies import refuse_circle_with
from tarmac.controller.submit.edit.edits import RUNS_AS_OWNER, Edits, conda_prefixes, given_in
from tarmac.controller.submit.edit.options_of import options_of
from tarmac.controller.submit.edit.regrouped import regrouped
from tarmac.controller.submit.paths.output_files import refuse_shared_outputs
from tarmac.controller.submit.paths.paths import check_submitted_paths
from tarmac.controller.submit.request import EditRequest, is_for_admins
from tarmac.core.events import JobEdited
from tarmac.core.limits import refusal_at_submit
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.refusal import Refused, invalid, not_allowed, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tarmac.controller.requests.permissions import Caller
    from tarmac.controller.submit.edit.edits import CondaPrefixes
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.state import State

AT_ONCE = 500  # jobs, between two turns of others
LIMITS = ("max_queued_per_project", "max_gpus_per_job")  # that an edit may exceed


async def show_options(context: Context, word: str) -> dict[str, Any]:
    """The options of a job as a submit takes them, without its variables and with absolute paths."""
    return options_of(find_job(context, word).spec, context.controller.state.nodes.values())


async def edit_job(context: Context, word: str, body: EditRequest) -> WholeJobView:
    """Change a waiting job. Fields that are left out stay; null resets a field."""
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)
    changes = {job.id: body}
    _need_rights(context.caller, [job], changes)
    if not context.is_carried_out:
        still_waiting(context.controller.state, job.id)
    edits = await _prepared(context, [job], changes)

    def plan(state: State) -> Decision[None]:
        return _decision(context, state, [still_waiting(state, job.id)], changes, edits, None)

    await context.carry_out(plan)
    return Viewer(context.controller, is_fresh=True).whole_job(find_job(context, str(job.id)))


async def check_edit(context: Context, word: str, body: EditRequest) -> JobSpec:
    """Check a change as an edit does, and change nothing. Returns what the job would become."""
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)
    changes = {job.id: body}
    _need_rights(context.caller, [job], changes)
    still_waiting(context.controller.state, job.id)
    edits = await _prepared(context, [job], changes)
    state = context.controller.state
    live = still_waiting(state, job.id)
    _decision(context, state, [live], changes, edits, None)
    return _edited(edits, live, changes, 1)


async def edit_jobs(context: Context, body: EditManyRequest) -> EditAnswer:
    """Change all selected jobs that wait, or none of them."""
    return await _edit(context, dict.fromkeys(map(JobId, selected_own(context, body)), body.changes))


async def edit_each(context: Context, body: EditEachRequest) -> EditAnswer:
    """Change several waiting jobs, each in its own way: all that wait, or none."""
    numbers = selected_own(context, Selection(ids=list(body.jobs)))
    return await _edit(context, {JobId(number): body.jobs[str(number)] for number in numbers})


async def _edit(context: Context, changes: Mapping[JobId, EditRequest]) -> EditAnswer:
    live = _waiting(context.controller.state, changes)
    _need_rights(context.caller, live, changes)
    checked = {job.id for job in live}
    edits = await _prepared(context, live, changes)

    def plan(state: State) -> Decision[EditAnswer]:
        jobs = [job for job in _waiting(state, changes) if job.id in checked]
        edited: set[int] = {job.id for job in jobs}
        others: list[int] = [number for number in changes if number not in edited]
        answer = EditAnswer(edited=sorted(edited), not_waiting=others)
        return _decision(context, state, jobs, changes, edits, answer)

    return await context.decide(plan)


def _waiting(state: State, numbers: Mapping[JobId, EditRequest]) -> list[Job]:
    jobs = [job for number in numbers if (job := state.jobs.get(number)) is not None]
    return [job for job in jobs if isinstance(job.status, Queued | Held | Draft)]


def _need_rights(caller: Caller, jobs: Sequence[Job], changes: Mapping[JobId, EditRequest]) -> None:
    """Only admins make jobs urgent. Only the owner says what runs as the owner, and with which files."""
    for job in jobs:
        if is_for_admins(changes[job.id]) and not is_for_admins(job.spec):
            need_admin(caller, "make_urgent")
        if job.spec.owner != caller.name:
            given = [name for name in RUNS_AS_OWNER if name in given_in(changes[job.id])]
            if given:
                raise not_allowed("edit.runs_as_owner", job=job.id, owner=job.spec.owner, field=given[0])


async def _prepared(context: Context, jobs: Sequence[Job], changes: Mapping[JobId, EditRequest]) -> Edits:
    """Check the changes and ask the nodes about new paths and environments, as a submit does before its decision.

    The edits that are returned remember the new specs.
    """
    controller = context.controller
    prefixes: CondaPrefixes = {}
    same: dict[int, list[Job]] = defaultdict(list)  # by the identity of their change
    for job in jobs:
        same[id(changes[job.id])].append(job)
    for some in same.values():
        prefixes |= await conda_prefixes(controller, [job.spec for job in some], changes[some[0].id])
    edits = Edits(controller, controller.state, context.caller.name, prefixes)
    specs = []
    for number, job in enumerate(jobs):
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
        spec = _edited(edits, job, changes, len(jobs))
        if _needs_check(spec, job, changes[job.id]):
            specs.append(spec)
    if specs:
        edits.missing = await check_submitted_paths(
            specs, controller.state, controller.fleet, controller.output_files, controller.own_directories
        )
    return edits


def _checked(edits: Edits, job: Job, changes: Mapping[JobId, EditRequest], count: int) -> JobSpec:
    """The new spec. If other files are needed than before, it avoids the nodes that lack them."""
    spec = _edited(edits, job, changes, count)
    if edits.missing is None or not _needs_check(spec, job, changes[job.id]):
        return spec
    return edits.missing.avoided_by(spec)


def _needs_check(spec: JobSpec, job: Job, change: EditRequest) -> bool:
    """Ask the nodes about other paths, and again about a directory that some of them lacked."""
    return _paths(spec) != _paths(job.spec) or (bool(job.spec.missing) and change.cwd is not UNSET)


def _paths(spec: JobSpec) -> tuple[object, ...]:
    return (spec.cwd, spec.outputs, spec.append)


def _decision(
    context: Context,
    state: State,
    jobs: Sequence[Job],
    changes: Mapping[JobId, EditRequest],
    edits: Edits,
    answer: Any,
) -> Decision[Any]:
    _need_rights(context.caller, jobs, changes)  # again: another edit may have come first
    caller = context.caller.name
    specs = {job.id: _checked(edits, job, changes, len(jobs)) for job in jobs}
    if not jobs:
        for change in changes.values():
            given_in(change)
    moved = [job for job in jobs if _paths(specs[job.id])[1:] != _paths(job.spec)[1:]]
    new = [specs[job.id] for job in moved]
    refuse_shared_outputs(new, state, context.controller.output_files, edited={job.id for job in moved})
    after = {job.id: specs[job.id].after for job in jobs if specs[job.id].after != job.spec.after}
    if after:
        refuse_circle_with(state, after)
    limited = [specs[job.id] for job in jobs if _counts(specs[job.id]) != _counts(job.spec)]
    reached = refusal_at_submit(state, limited)
    if reached is not None and reached.limit in LIMITS:
        raise invalid("edit.over_limit", reached=reached)
    events = [JobEdited(job=first, spec=spec, by=caller, more=tuple(more)) for (first, spec), *more in _pairs(specs)]
    groups = regrouped(context.controller.store.reader.groups, jobs, specs)
    used = {spec.environment for spec in specs.values()}  # not those of jobs that have started meanwhile
    environments = {digest: stored for digest, stored in edits.environments.items() if digest in used}
    return Decision(answer=answer, events=events, environments=environments, regrouped=groups)


def _pairs(specs: dict[JobId, JobSpec]) -> list[list[tuple[JobId, JobSpec]]]:
    """All in one event, if there are any: a pass after each of many would take long."""
    return [list(specs.items())] if specs else []


def _counts(spec: JobSpec) -> tuple[object, ...]:
    return (spec.project, spec.request.gpus)


def _edited(edits: Edits, job: Job, changes: Mapping[JobId, EditRequest], jobs: int) -> JobSpec:
    change = changes[job.id]
    if change.max_running and job.group is None:
        raise invalid("edit.not_in_a_group", job=job.id)
    try:
        return edits.spec(job, change)
    except Refused as refusal:
        if jobs == 1 or refusal.key == "edit.nothing":
            raise
        raise wrapped("edit.of_job", job=job.id, problem=refusal) from refusal
