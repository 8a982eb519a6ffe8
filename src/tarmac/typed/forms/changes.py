"""What was changed in the form of a job: for an edit, or for a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.errors import TarmacError
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.text import command_line
from tarmac.typed.changes import changes
from tarmac.typed.forms.command_line import option_words
from tarmac.typed.forms.fields import mistake_of, read_fields, words_of
from tarmac.typed.forms.form import FieldMistake
from tarmac.typed.option import NONE
from tarmac.typed.options import options_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.typed.forms.form import FieldValue
    from tarmac.typed.requests import NumberOf

BY_NAME = {option.name: option for option in JOB_OPTIONS}


class Changes(NamedTuple):
    """`options`: those that changed. Empty text or an empty list resets an option."""

    command: str | None
    shell: bool | None
    options: Mapping[str, FieldValue]


def read_changes(
    verb: str, given: Changes, number_of: NumberOf, base: str
) -> tuple[dict[str, Any], list[FieldMistake]]:
    """By wire name, as an edit takes them. `base`: paths are relative to it, unless there is a new directory."""
    mistakes: list[FieldMistake] = []
    values = read_fields(_with_resets(given.options, mistakes), options_of("edit"), mistakes)
    if given.command is not None:
        line = words_of(given.command, shell=given.shell, mistakes=mistakes)
        values["shell" if isinstance(line, str) else "command"] = line
    if mistakes:
        return {}, mistakes
    try:
        return changes(verb, values, number_of, base), []
    except TarmacError as error:
        return {}, [mistake_of(error, "command")]


def change_command(verb: str, job: int, given: Changes) -> str:
    """The command line that does the same."""
    words = ["tarmac", verb, str(job)]
    if given.command is not None:
        line = words_of(given.command, shell=given.shell, mistakes=[])
        words += ["--shell", line] if isinstance(line, str) else ["--command", given.command.strip()]
    resets = _with_resets(given.options, [])
    switched_off = [
        f"--no-{name.replace('_', '-')}" for name, value in resets.items() if value == NONE and _is_switch(name)
    ]
    return command_line(
        [*words, *option_words({k: v for k, v in resets.items() if not (v == NONE and _is_switch(k))}), *switched_off]
    )


def _is_switch(name: str) -> bool:
    option = BY_NAME.get(name.replace("-", "_"))
    return option is not None and not option.metavar


def _with_resets(options: Mapping[str, FieldValue], mistakes: list[FieldMistake]) -> dict[str, FieldValue]:
    """`none` in place of nothing."""
    found: dict[str, FieldValue] = {}
    for name, value in options.items():
        option = BY_NAME.get(name.replace("-", "_"))
        if option is None or (value and value != [""]):
            found[name] = value
        elif not option.metavar:
            found[name] = NONE
        elif not option.can_clear:
            mistakes.append(FieldMistake(option.name, "it must not be empty", option.help))
        else:
            found[name] = [NONE] if option.is_many else NONE
    return found
