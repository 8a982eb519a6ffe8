"""Reads a form into a submit. Not on the event loop: a form may have 10,000 jobs, and is checked while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tarmac.api.errors import worded
from tarmac.api.schemas.job.forms import FormAnswer, FormJob
from tarmac.controller.submit.environment.form_environment import form_environment, home_of
from tarmac.controller.submit.request import SubmitRequest
from tarmac.refusal import Refused, invalid
from tarmac.shared.text import command_line
from tarmac.typed.forms.command_line import command_of
from tarmac.typed.forms.form import Form
from tarmac.typed.forms.jobs import read_form
from tarmac.typed.forms.paths import absolute_job

if TYPE_CHECKING:
    from tarmac.api.schemas.job.forms import FormRequest
    from tarmac.typed.forms.form import Reading
    from tarmac.typed.requests import NumberOf

MOST_SHOWN = 1000  # jobs
OF_THE_REQUEST = ("dry_run", "token")


class FormSubmit(NamedTuple):
    """`request`: what to submit, or why it is refused; None if the reading found mistakes."""

    answer: FormAnswer
    reading: Reading | None
    request: SubmitRequest | Refused | None


def read_submit(body: FormRequest, uid: int, number_of: NumberOf) -> FormSubmit:
    form = Form(**{name: getattr(body, name) for name in body.__struct_fields__ if name not in OF_THE_REQUEST})
    home = home_of(uid)
    command = command_of(form, home)
    answer = FormAnswer(
        ids=[], hints=[], count=0, jobs=[], command_line=command, mistakes=[], more_mistakes=0, start=None
    )
    try:
        reading = read_form(form, number_of)
    except Refused as refused:
        return FormSubmit(answer, None, refused)
    if reading.mistakes:
        return FormSubmit(answer, reading, None)
    answer.count, answer.jobs = len(reading.jobs), _shown(reading)
    try:
        return FormSubmit(answer, reading, _submit(body, uid, home, reading))
    except Refused as refused:
        return FormSubmit(answer, reading, refused)


def _submit(body: FormRequest, uid: int, home: str, reading: Reading) -> SubmitRequest:
    """The submit that the command line would send, from the home directory and with a small environment."""
    sent = {
        "jobs": [absolute_job(job, home) for job in reading.jobs],
        "cwd": home,
        "environment": form_environment(uid),
        "group": reading.group,
        "entry": reading.entry,
        "dry_run": body.dry_run,
        "token": body.token,
    }
    try:
        return msgspec.convert(sent, SubmitRequest)
    except msgspec.ValidationError as error:
        raise invalid("request.wrong_fields", wrong=[worded(SubmitRequest, error)]) from None


def _shown(reading: Reading) -> list[FormJob]:
    lines: list[int | None] = [one.entry.line for one in reading.batch[:MOST_SHOWN]]
    return [
        FormJob(
            command=job["shell"] if "shell" in job else command_line(job["command"]),
            params=job.get("params", {}),
            line=line,
        )
        for job, line in zip(reading.jobs, lines or [None] * MOST_SHOWN, strict=False)
    ]
