"""Copies of jobs: clones, and reruns that are linked to the jobs they repeat. With the environment of the original."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tarmac.api.deps import Context
from tarmac.api.routes.job.copies.copied_code import CopiedCode
from tarmac.api.routes.job.copies.copied_group import original_group, planned_copy
from tarmac.api.routes.job.jobs import MOST_TRIES, refuse_too_many, selected_own
from tarmac.api.routes.job.retry import lost_code
from tarmac.api.schemas.job.selection import CloneAnswer, CloneRequest
from tarmac.controller.engine.decision import Decision, Plan
from tarmac.controller.requests.permissions import need_admin
from tarmac.controller.submit.checks import refuse_infeasible
from tarmac.controller.submit.edit.edits import CondaPrefixes, Edits, conda_prefixes
from tarmac.controller.submit.environment.python_env import with_environments
from tarmac.controller.submit.paths.needed import MissingOnNodes
from tarmac.controller.submit.paths.output_files import refuse_shared_outputs
from tarmac.controller.submit.paths.path_templates import IdsMoved, filled
from tarmac.controller.submit.paths.paths import check_submitted_paths
from tarmac.controller.submit.request import is_for_admins
from tarmac.core.events import JobsSubmitted
from tarmac.core.model.ids import JobId
from tarmac.refusal import conflict, invalid, not_allowed, not_found, unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.state import State

T = TypeVar("T")
MOST_CLONES = 10_000


async def clone_jobs(context: Context, body: CloneRequest) -> CloneAnswer:
    """Queue copies of jobs in any state, all or none, with the options and the environment of the originals."""
    return await clone(context, body, _itself)


async def clone(context: Context, body: CloneRequest, answer_of: Callable[[CloneAnswer], T]) -> T:
    """`answer_of`: forms the answer to the request, which a repetition of the request gets as well."""
    controller = context.controller
    numbers = selected_own(context, body)
    if len(numbers) > MOST_CLONES:
        raise invalid("clone.too_many", jobs=len(numbers), most=MOST_CLONES)
    jobs = controller.jobs(numbers)
    code = CopiedCode(body, numbers)
    _refuse_without_copy(context, jobs, code)
    prefixes: CondaPrefixes = {}
    if body.changes is not None and not context.is_carried_out:
        prefixes = await conda_prefixes(controller, [job.spec for job in jobs], body.changes)
    missing = MissingOnNodes({})
    for _ in range(MOST_TRIES):
        first = controller.state.next_id
        if not context.is_carried_out:
            missing = await _checked_paths(context, body, code, jobs, prefixes, first)
        with suppress(IdsMoved):
            return await context.decide(_plan(context, body, code, numbers, prefixes, missing, first, answer_of))
    raise unavailable("submit.ids_moved")


async def check_clone(context: Context, body: CloneRequest) -> JobSpec:
    """Check a copy of one job as a clone does, and queue nothing. Returns the copy."""
    controller = context.controller
    (number,) = selected_own(context, body)
    jobs = controller.jobs([number])
    code = CopiedCode(body, [number])
    _refuse_without_copy(context, jobs, code)
    prefixes: CondaPrefixes = {}
    if body.changes is not None:
        prefixes = await conda_prefixes(controller, [job.spec for job in jobs], body.changes)
    missing = await _checked_paths(context, body, code, jobs, prefixes, controller.state.next_id)
    _plan(context, body, code, [number], prefixes, missing, controller.state.next_id, _itself)(controller.state)
    edits = Edits(controller, controller.state, context.caller.name, prefixes)
    return _copy(edits, jobs[0], body, code, JobId(controller.state.next_id))


async def _checked_paths(
    context: Context, body: CloneRequest, code: CopiedCode, jobs: Sequence[Job], prefixes: CondaPrefixes, first: int
) -> MissingOnNodes:
    controller = context.controller
    edits = Edits(controller, controller.state, context.caller.name, prefixes)
    specs = [_copy(edits, job, body, code, JobId(first + place)) for place, job in enumerate(jobs)]
    for environment in dict.fromkeys(spec.environment for spec in specs):
        some = tuple(spec for spec in specs if spec.environment == environment)
        if any(spec.venv is not None or spec.conda is not None for spec in some):
            variables = controller.store.reader.public_environment(environment)
            await with_environments(some, variables, controller.state, controller.fleet)
    return await check_submitted_paths(
        specs, controller.state, controller.fleet, controller.output_files, controller.own_directories
    )


def _itself(answer: CloneAnswer) -> CloneAnswer:
    return answer


def _plan(
    context: Context,
    body: CloneRequest,
    code: CopiedCode,
    numbers: list[int],
    prefixes: CondaPrefixes,
    missing: MissingOnNodes,
    first: int,
    answer_of: Callable[[CloneAnswer], T],
) -> Plan[T]:
    """Raises IdsMoved if output files are named after ids, and the first copy does not get the id `first`."""
    controller = context.controller
    fills = body.changes is not None and body.changes.fill_paths
    group = original_group(context, body)

    def plan(state: State) -> Decision[T]:
        originals = controller.jobs(numbers)
        if not originals:
            raise not_found("jobs.unknown", jobs=numbers)  # they were removed meanwhile
        is_named_by_id = fills or any(job.spec.output_templates for job in originals)
        if is_named_by_id and state.next_id != first:
            raise IdsMoved
        edits = Edits(controller, state, context.caller.name, prefixes)
        ids = range(state.next_id, state.next_id + len(originals))
        specs = tuple(_copy(edits, job, body, code, JobId(number)) for number, job in zip(ids, originals, strict=True))
        specs = missing.avoided_by_all(specs)
        refuse_too_many(state, specs)
        code.require(controller.snapshots)
        for request in dict.fromkeys(spec.request for spec in specs):
            refuse_infeasible(state, request)
        refuse_shared_outputs(specs, state, controller.output_files)
        indices = tuple(job.index for job in originals)
        by = context.caller.name
        event = JobsSubmitted(specs=specs, is_group=group is not None, indices=indices, entry=body.entry, by=by)
        answer = CloneAnswer(ids=list(ids), of=[int(job.id) for job in originals])
        copied = None if group is None else planned_copy(group, body, originals, specs)
        stored = None if copied is None else copied.stored(ids.start, by, controller.now())
        return Decision(answer=answer_of(answer), events=[event], environments=edits.environments, group=stored)

    return plan


def _refuse_without_copy(context: Context, jobs: Sequence[Job], code: CopiedCode) -> None:
    """Even an admin copies only own jobs: a copy has the environment of its original, and runs as the caller."""
    for job in jobs:
        if job.spec.owner != context.caller.name:
            raise not_allowed("clone.not_owner", job=job.id, owner=job.spec.owner)
        if job.spec.is_adopted:
            raise conflict("clone.adopted", job=job.id)
        if not job.spec.can_run_again:
            raise conflict("retry.no_environment", job=job.id)
        if code.is_kept and (lost := lost_code(context.controller, job)) is not None:
            raise lost
        if is_for_admins(job.spec):
            need_admin(context.caller, "make_urgent")


def _copy(edits: Edits, job: Job, body: CloneRequest, code: CopiedCode, number: JobId) -> JobSpec:
    """What a job that ran has waited for does not concern its copy."""
    clone_of, rerun_of = (None, job.id) if body.rerun else (job.id, None)
    after = () if job.attempt else tuple(replace(one, is_met=False) for one in job.spec.after)
    spec = replace(job.spec.with_missing(()), after=after, clone_of=clone_of, rerun_of=rerun_of, snapshot=code.of(job))
    if body.group is None:
        spec = replace(spec, max_running=None)
    if body.changes is None:
        return filled(spec, number, job.index)
    if body.changes.max_running and body.group is None:
        raise invalid("edit.not_in_a_group", job=job.id)
    changed = edits.spec(replace(job, id=number, spec=spec, group=None), body.changes)
    return filled(changed, number, job.index)
