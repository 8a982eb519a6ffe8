"""The command line that does the same as a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.text import command_line
from tarmac.typed.forms.fields import words_of
from tarmac.typed.forms.paths import for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tarmac.typed.forms.form import FieldValue, Form

BATCH_FILE = "jobs.txt"  # stands for the file in which the user would write the batch


def command_of(form: Form, home: str) -> str:
    """What to type, in any directory, instead of filling in the form. Exact, but for the file of a batch."""
    verb = "sweep" if form.kind == "sweep" else "add"
    words = ["tarmac", verb, "--no-env", *option_words(for_terminal(form.options, home))]
    if form.group:
        words += ["--group", form.group]
    if form.kind == "batch":
        words += ["--batch", BATCH_FILE, *(["--batch-format", form.format] if form.format else [])]
        return command_line(words)
    line = words_of(form.command, shell=form.shell, mistakes=[])
    if form.kind == "sweep":
        words += _sweep_words(form)
        command = ["-c", line] if isinstance(line, str) else [form.command.strip()]
        return command_line([*words, *command, *(one for one in form.parameters if one.strip("= "))])
    return command_line([*words, *command_words(line)])


def command_words(line: list[str] | str) -> list[str]:
    if isinstance(line, str):
        return ["-c", line]
    return ["--", *line] if line[:1] and line[0].startswith("-") else line


def option_words(options: Mapping[str, FieldValue]) -> Iterator[str]:
    """Flags and values, in the order of the declaration."""
    given = {name.replace("-", "_"): value for name, value in options.items()}
    for option in JOB_OPTIONS:
        value = given.get(option.name)
        if value is True:
            yield option.flag
        elif value:
            for word in value if isinstance(value, list) else [value]:
                if word:
                    yield from [f"{option.flag}={word}"] if word.startswith("-") else [option.flag, word]


def _sweep_words(form: Form) -> Iterator[str]:
    if form.zip:
        yield "--zip"
    for name in ("where", "sample", "seed"):
        if value := getattr(form, name):
            yield from (f"--{name}", value)
