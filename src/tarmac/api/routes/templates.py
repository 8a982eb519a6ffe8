"""Templates of the caller: list, show, save and remove them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import find_job
from tarmac.api.schemas.templates import TemplateList, TemplateRequest, TemplateView
from tarmac.api.wording.times import iso
from tarmac.controller.engine.decision import Decision
from tarmac.controller.requests.permissions import refuse_others_jobs
from tarmac.controller.submit.edit.options_of import kept_in_template, template_options
from tarmac.refusal import invalid, not_found
from tarmac.store.templates import StoredTemplate
from tarmac.typed.forms.form import Form
from tarmac.typed.forms.jobs import read_form
from tarmac.typed.written import form_options

if TYPE_CHECKING:
    from tarmac.core.state import State

NO_JOB = 0  # of a template that was saved from a form
LONGEST_NAME = 100
MOST_TEMPLATES = 1000  # of one user


async def list_templates(context: Context) -> TemplateList:
    """List the templates of the caller, by name."""
    found = context.controller.store.reader.templates(context.caller.name)
    return TemplateList(templates=[_view(one) for one in found])


async def show_template(context: Context, name: str) -> TemplateView:
    return _view(_find(context, name))


async def save_template(context: Context, name: str, body: TemplateRequest) -> TemplateView:
    """Save the options of a job under a name. A template of that name is replaced."""
    is_path = "/" in name or name in {".", ".."}
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or is_path:
        raise invalid("template.bad_name", most=LONGEST_NAME)
    if (body.job is None) == (body.form is None):
        raise invalid("template.job_or_form")
    controller = context.controller
    known = {one.name for one in controller.store.reader.templates(context.caller.name)}
    if name not in known and len(known) >= MOST_TEMPLATES:
        raise invalid("template.too_many", most=MOST_TEMPLATES)
    saved = StoredTemplate(
        owner=context.caller.name,
        name=name,
        job=body.job or NO_JOB,
        saved_at=controller.now(),
        options=_options(context, body),
    )

    def plan(_: State) -> Decision[TemplateView]:
        return Decision(answer=_view(saved), templates={(saved.owner, saved.name): saved})

    return await context.decide(plan)


def _options(context: Context, body: TemplateRequest) -> dict[str, Any]:
    if body.job is not None:
        job = find_job(context, str(body.job))
        refuse_others_jobs([job], context.caller)
        return template_options(job.spec, context.controller.state.nodes.values())
    reading = read_form(Form(command="true", options=body.form or {}), lambda _: NO_JOB)
    if reading.mistakes:
        raise invalid("form.mistake", problem=reading.mistakes[0].message)
    return kept_in_template(reading.jobs[0])


async def remove_template(context: Context, name: str) -> TemplateView:
    """Remove a template. Jobs that were queued with it stay as they are."""
    known = _find(context, name)

    def plan(_: State) -> Decision[TemplateView]:
        return Decision(answer=_view(known), templates={(known.owner, known.name): None})

    return await context.decide(plan)


def _find(context: Context, name: str) -> StoredTemplate:
    found = context.controller.store.reader.templates(context.caller.name)
    one = next((one for one in found if one.name == name), None)
    if one is None:
        if near := get_close_matches(name, [one.name for one in found], n=1):
            raise not_found("template.misspelled", name=name, near=near[0])
        raise not_found("template.unknown", name=name)
    return one


def _view(one: StoredTemplate) -> TemplateView:
    return TemplateView(
        name=one.name,
        options=one.options,
        form=form_options(one.options),
        job=one.job or None,
        saved_at=str(iso(one.saved_at)),
    )
