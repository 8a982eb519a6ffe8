"""The jobs of a form: one job, an array, a sweep or a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac.errors import TarmacError, UserError
from tarmac.typed.batch.formats import count_entries, read_batch
from tarmac.typed.batch.jobs import jobs_of
from tarmac.typed.batch.source import format_named, format_of, source_of
from tarmac.typed.forms.fields import empty_values, mistake_of, read_fields, words_of
from tarmac.typed.forms.form import FieldMistake, Reading
from tarmac.typed.option import shown
from tarmac.typed.options import options_of
from tarmac.typed.requests import array_group, entry_of, request_of
from tarmac.typed.sweep.grid import Limits
from tarmac.typed.sweep.jobs import group_of, refuse_seed_alone, requests_of, rows_of, template_of
from tarmac.typed.sweep.options import refuse_secrets, sweep_options
from tarmac.typed.values import group_name, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.typed.forms.form import Form
    from tarmac.typed.option import Values
    from tarmac.typed.requests import Body, NumberOf


LIMITS = Limits(jobs=10_000, tried=100_000)  # a form is read in the controller, again and again while it is typed


def read_form(form: Form, number_of: NumberOf) -> Reading:
    """The jobs, or every mistake that can be found without the controller. `number_of` knows `last`."""
    return {"job": _job, "sweep": _sweep, "batch": _batch}[form.kind](form, number_of)


def _job(form: Form, number_of: NumberOf) -> Reading:
    options, mistakes = options_of("add"), list[FieldMistake]()
    values = empty_values(options) | read_fields(form.options, options, mistakes)
    line = words_of(form.command, shell=form.shell, mistakes=mistakes)
    values["group"] = _group_name(form, mistakes)
    if mistakes:
        return _failed(mistakes)
    if isinstance(line, str):
        values["shell"] = line
    try:
        request = request_of("add", values, [] if isinstance(line, str) else line, number_of)
        group = array_group("add", values, request)
        return Reading([_as_sent(request)], group, entry_of("add", values), [])
    except TarmacError as error:
        return _failed([mistake_of(error, "command")])


def _sweep(form: Form, number_of: NumberOf) -> Reading:
    options, mistakes = sweep_options(options_of("add")), list[FieldMistake]()
    values = empty_values(options)
    try:
        values |= read_fields(form.options, options, mistakes)
    except UserError as error:  # a placeholder that cannot be read
        return _failed([mistake_of(error, None)])
    line = words_of(form.command, shell=form.shell, mistakes=mistakes)
    values |= {"zip": form.zip, "where": form.where or None, "from": None, "group": _group_name(form, mistakes)}
    values["sample"] = _number("sample", form.sample, mistakes)
    values["seed"] = _number("seed", form.seed, mistakes)
    if mistakes:
        return _failed(mistakes)
    if isinstance(line, str):
        values["shell"] = line
    return _swept(form, values, number_of)


def _swept(form: Form, values: Values, number_of: NumberOf) -> Reading:
    parameters = [one for one in form.parameters if one.strip().strip("=")]
    words = parameters if values["shell"] is not None else [form.command.strip(), *parameters]
    field = "command"
    try:
        template, _ = template_of(values, words)
        field = "seed"
        refuse_seed_alone(values)
        field = "parameters"
        rows = rows_of(values, template, parameters, [{}], LIMITS)
        refuse_secrets(values, rows)
        jobs = [_as_sent(job) for job in requests_of(values, template, rows, number_of)]
        return Reading(jobs, group_of(values, words), entry_of("sweep", values), [])
    except TarmacError as error:
        if "--where" in error.message:
            field = "where"
        elif error.message.endswith("is not a parameter") and error.message.startswith("sweep: {"):
            field = "command"
        return _failed([mistake_of(error, field)])


def _batch(form: Form, number_of: NumberOf) -> Reading:
    options, mistakes = options_of("add"), list[FieldMistake]()
    values = empty_values(options) | read_fields(form.options, options, mistakes)
    group = _group_name(form, mistakes)
    source = source_of("", form.batch)
    try:
        kind = format_of(source) if not form.format else format_named(form.format)
    except ValueError as error:
        mistakes.append(FieldMistake("format", str(error)))
    if mistakes:
        return _failed(mistakes)
    if (count := count_entries(source.lines, kind)) > LIMITS.jobs:
        message = f"the batch has {count:,} jobs; the limit is {LIMITS.jobs:,}"
        return _failed([FieldMistake("batch", message, "use `tarmac add --batch FILE` for more")])
    try:
        found = jobs_of(read_batch(source.lines, kind), values, [], options, number_of)
        entry = entry_of("add", values)
    except TarmacError as error:
        return _failed([mistake_of(error, "batch")])
    if found.mistakes:
        placed = sorted(found.mistakes, key=lambda one: one[:2])
        return _failed([FieldMistake("batch", one.message, None, one.line, one.column) for one in placed])
    if not found.jobs:
        return _failed([FieldMistake("batch", "there are no jobs", "write one command per line", 1, 1)])
    jobs = [_as_sent(job.request) for job in found.jobs]
    return Reading(jobs, {"kind": "batch", "name": group or values["name"]}, entry, [], found.jobs)


def _failed(mistakes: list[FieldMistake]) -> Reading:
    return Reading([], None, "queued", mistakes)


def _as_sent(request: Body) -> dict[str, Any]:
    """The API names a string for the shell `shell`."""
    if not isinstance(request.get("command"), str):
        return request
    return {**{name: value for name, value in request.items() if name != "command"}, "shell": request["command"]}


def _group_name(form: Form, mistakes: list[FieldMistake]) -> str | None:
    return None if not form.group else _word("group", form.group, group_name, mistakes)


def _number(field: str, word: str | None, mistakes: list[FieldMistake]) -> int | None:
    return None if not word else _word(field, word, positive, mistakes)


def _word(field: str, word: str, read: Callable[[str], Any], mistakes: list[FieldMistake]) -> Any:
    try:
        return read(word)
    except ValueError as error:
        mistakes.append(FieldMistake(field, f"{shown(word)}: {error}"))
        return None
