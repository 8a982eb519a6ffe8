"""Check and submit what was typed into a form: a job, a sweep or a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.routes.job.forms.answers import blamed_mistakes, refuse_mistakes, with_mistakes
from tarmac.api.routes.job.forms.reading import read_submit
from tarmac.api.routes.job.jobs import submit_jobs
from tarmac.api.schemas.job.forms import FormAnswer, FormRequest
from tarmac.api.views.start import start_view
from tarmac.controller.requests.selectors import job_number
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from tarmac.typed.forms.form import Reading
    from tarmac.typed.requests import NumberOf


async def submit_form(context: Context, body: FormRequest) -> FormAnswer:
    """Read a form as the command line reads its options, and queue its jobs: all or none.

    With `dry_run`, nothing is queued, and the answer says what is wrong, or when the first job would start.
    """
    uid, number_of = context.caller.uid, _number_of(context, body)
    answer, reading, request = await context.controller.form_turns.run(uid, lambda: read_submit(body, uid, number_of))
    if isinstance(request, Refused):
        return _refused(body, answer, reading, request)
    assert reading is not None
    if request is None:
        return refuse_mistakes(answer, reading.mistakes, is_dry=body.dry_run)
    try:
        done = await submit_jobs(context, request)
    except Refused as refused:
        return _refused(body, answer, reading, refused)
    answer.ids, answer.hints = list(done.ids), done.hints
    answer.count = done.count
    if body.dry_run and done.first is not None:
        answer.start = start_view(context.controller, done.first, reading.entry)
    return answer


def _number_of(context: Context, body: FormRequest) -> NumberOf:
    """Knows `last`, the newest job of the caller. If there is none, only a job that names it is refused.

    The reader of the database must not be used in another thread, so it is asked beforehand.
    """
    last: int | Refused = 0
    if "last" in str(body.options.get("after")) or "last" in body.batch:
        try:
            last = job_number(context.controller.store.reader, context.caller.name, "last")
        except Refused as refused:
            last = refused

    def number_of(word: str) -> int:
        if word != "last":
            return int(word)
        if isinstance(last, Refused):
            raise last
        return last

    return number_of


def _refused(body: FormRequest, answer: FormAnswer, reading: Reading | None, refused: Refused) -> FormAnswer:
    if not body.dry_run:
        raise refused
    return with_mistakes(answer, *blamed_mistakes(reading, refused))
