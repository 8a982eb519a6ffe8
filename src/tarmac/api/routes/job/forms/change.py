"""The form of a job that exists: shown, and changed as an edit of a waiting job or as a copy of any job."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec

from tarmac.api.deps import Context
from tarmac.api.errors import worded
from tarmac.api.routes.job.copies.clone import check_clone, clone
from tarmac.api.routes.job.edit import check_edit, edit_job
from tarmac.api.routes.job.forms.answers import blamed_mistakes, refuse_mistakes, with_mistakes
from tarmac.api.routes.job.jobs import find_job
from tarmac.api.schemas.job.forms import ChangesRequest, FormAnswer, JobForm
from tarmac.api.schemas.job.selection import CloneRequest
from tarmac.api.views.start import edited_start_view, start_view
from tarmac.controller.requests.permissions import refuse_others_jobs
from tarmac.controller.requests.selectors import job_number
from tarmac.controller.submit.edit.options_of import options_of
from tarmac.controller.submit.request import EditRequest
from tarmac.refusal import Refused, invalid
from tarmac.shared.job_options import JOB_OPTIONS, SPEC
from tarmac.typed.forms.changes import Changes, change_command, read_changes
from tarmac.typed.written import form_options

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.typed.forms.form import FieldMistake

UNRESETTABLE = [
    option.wire
    for option in JOB_OPTIONS
    if "edit" in option.verbs
    and option.metavar
    and not option.can_clear
    and (option.record == SPEC or option.wire == "retries")
]


async def show_form(context: Context, word: str) -> JobForm:
    """Show the options of a job as one would type them, without its variables."""
    spec = find_job(context, word).spec
    return JobForm(
        command=spec.shell or "" if spec.command is None else shlex.join(spec.command),
        shell=spec.command is None,
        options=form_options(options_of(spec, context.controller.state.nodes.values())),
        unresettable=form_options({name: getattr(spec, name) for name in UNRESETTABLE}),
    )


async def edit_form(context: Context, word: str, body: ChangesRequest) -> FormAnswer:
    """Change a waiting job by what changed in its form. With `dry_run`, only check it."""
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)
    given = Changes(body.command, body.shell, body.options)
    answer = _answer(change_command("edit", job.id, given))
    try:
        changes = _edit(context, "edit", job, given)
        if isinstance(changes, list):
            return refuse_mistakes(answer, changes, is_dry=body.dry_run)
        if body.dry_run:
            spec = await check_edit(context, str(job.id), changes)
            answer.start = edited_start_view(context.controller, find_job(context, str(job.id)), spec)
        else:
            await edit_job(context, str(job.id), changes)
            answer.ids = [job.id]
    except Refused as refused:
        return _refused(body, answer, refused)
    return answer


async def copy_form(context: Context, word: str, body: ChangesRequest) -> FormAnswer:
    """Queue a copy of a job with what changed in its form. With `dry_run`, only check it."""
    job = find_job(context, word)
    given = Changes(body.command, body.shell, body.options)
    answer = _answer(change_command("clone", job.id, given))
    try:
        changes = _edit(context, "clone", job, given)
        if isinstance(changes, list):
            return refuse_mistakes(answer, changes, is_dry=body.dry_run)
        wanted = CloneRequest(ids=[str(job.id)], changes=changes if _has_any(changes) else None)
        if body.dry_run:
            spec = await check_clone(context, wanted)
            answer.start = start_view(context.controller, spec, "queued")
        else:
            return await clone(context, wanted, lambda cloned: msgspec.structs.replace(answer, ids=cloned.ids))
    except Refused as refused:
        return _refused(body, answer, refused)
    return answer


def _answer(command: str) -> FormAnswer:
    return FormAnswer(
        ids=[], hints=[], count=1, jobs=[], command_line=command, mistakes=[], more_mistakes=0, start=None
    )


def _edit(context: Context, verb: str, job: Job, given: Changes) -> EditRequest | list[FieldMistake]:
    reader, caller = context.controller.store.reader, context.caller.name
    found, mistakes = read_changes(verb, given, lambda word: job_number(reader, caller, word), job.spec.cwd)
    if mistakes:
        return mistakes
    try:
        return msgspec.convert(found, EditRequest)
    except msgspec.ValidationError as error:
        raise invalid("request.wrong_fields", wrong=[worded(EditRequest, error)]) from None


def _has_any(changes: EditRequest) -> bool:
    return any(
        getattr(changes, name) is not msgspec.UNSET for name in changes.__struct_fields__ if name != "fill_paths"
    )


def _refused(body: ChangesRequest, answer: FormAnswer, refused: Refused) -> FormAnswer:
    if not body.dry_run:
        raise refused
    return with_mistakes(answer, *blamed_mistakes(None, refused))
