"""Edit waiting jobs: one, or many at once, all or none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from tarmac.api.deps import Context
from tarmac.api.routes.hold import still_waiting
from tarmac.api.routes.jobs import find_job, selected_own
from tarmac.api.schemas.job import WholeJobView
from tarmac.api.schemas.selection import EditAnswer, EditManyRequest
from tarmac.api.views.job import Viewer
from tarmac.controller.decision import Decision
from tarmac.controller.notify.asked import edited
from tarmac.controller.requests.permissions import need_admin, refuse_others_jobs
from tarmac.controller.submit.checks import refuse_bad_warning, refuse_requeue_without_limit
from tarmac.controller.submit.dependencies import Dependencies, refuse_circle_with
from tarmac.controller.submit.request import EditRequest, is_for_admins
from tarmac.controller.submit.retries import refuse_oom_contradiction, refuse_oom_without_retry
from tarmac.core.events import JobEdited
from tarmac.core.limits import refusal_at_submit
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.requests.permissions import Caller
    from tarmac.core.events import Event
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


async def edit_job(context: Context, word: str, body: EditRequest) -> WholeJobView:
    """Change a waiting job. Fields that are left out stay; null resets a field."""
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)
    _need_right(context.caller, [job], body)

    def plan(state: State) -> Decision[None]:
        return Decision(answer=None, events=_edits(context, state, [still_waiting(state, job.id)], body))

    await context.carry_out(plan)
    return Viewer(context.controller, is_fresh=True).whole_job(find_job(context, str(job.id)))


async def edit_jobs(context: Context, body: EditManyRequest) -> EditAnswer:
    """Change all selected jobs that wait, or none of them."""
    numbers = selected_own(context, body)
    known = [job for number in numbers if (job := context.controller.state.jobs.get(JobId(number))) is not None]
    _need_right(context.caller, known, body.changes)

    def plan(state: State) -> Decision[EditAnswer]:
        live = [job for number in numbers if (job := _waiting(state, number)) is not None]
        edited: list[int] = [job.id for job in live]
        others = [number for number in numbers if number not in set(edited)]
        answer = EditAnswer(edited=edited, not_waiting=others)
        return Decision(answer=answer, events=_edits(context, state, live, body.changes))

    return await context.decide(plan)


def _waiting(state: State, number: int) -> Job | None:
    job = state.jobs.get(JobId(number))
    return job if job is not None and isinstance(job.status, Queued | Held | Draft) else None


def _need_right(caller: Caller, jobs: Sequence[Job], changes: EditRequest) -> None:
    if is_for_admins(changes) and not all(is_for_admins(job.spec) for job in jobs):
        need_admin(caller, "make_urgent")


def _edits(context: Context, state: State, jobs: Sequence[Job], changes: EditRequest) -> list[Event]:
    given = _given(changes)
    caller = context.caller.name
    alone = next((job for job in jobs if job.group is None), None)
    if given.get("max_running") is not None and alone is not None:
        raise invalid("edit.not_an_array", job=alone.id)
    if "after" in given:
        given["after"] = Dependencies(state, context.controller.store.reader, caller).read(given["after"] or ())
        refuse_circle_with(state, jobs, given["after"])
    refuse_oom_contradiction(given.get("on_oom"), given.get("retry_on"))
    targets = context.controller.targets
    specs = [replace(job.spec, **edited(targets, job.spec, given)) for job in jobs]
    for spec in specs:
        refuse_oom_without_retry(spec)
        refuse_requeue_without_limit(spec)
        if spec.warn is not None:
            refuse_bad_warning(spec.warn, spec.time_limit_s, spec.tier)
    moved = [spec for job, spec in zip(jobs, specs, strict=True) if spec.project != job.spec.project]
    reached = refusal_at_submit(state, moved)
    if reached is not None and reached.limit == "max_queued_per_project":
        raise invalid("edit.over_limit", reached=reached)
    return [JobEdited(job=job.id, spec=spec, by=caller) for job, spec in zip(jobs, specs, strict=True)]


def _given(changes: EditRequest) -> dict[str, Any]:
    names = [name for name in changes.__struct_fields__ if getattr(changes, name) is not UNSET]
    if not names:
        raise invalid("edit.nothing", fields=changes.__struct_fields__)
    given: dict[str, Any] = {name: getattr(changes, name) for name in names}
    texts = [text for name in ("name", "project", "tags") for text in _texts(given.get(name))]
    if any("\0" in text for text in texts):
        raise invalid("submit.nul", field="labels")
    return given


def _texts(value: Any) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)
