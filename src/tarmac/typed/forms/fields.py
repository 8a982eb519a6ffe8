"""The fields of a form, read into the values of options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.forms.form import FieldMistake
from tarmac.typed.option import NONE, shown
from tarmac.typed.words import NotWords, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tarmac.errors import TarmacError
    from tarmac.typed.forms.form import FieldValue
    from tarmac.typed.option import Option, Values

_FLAG = re.compile(r"--[a-z][a-z-]*")
_FLAGS = {option.flag: option.name for option in JOB_OPTIONS}


def empty_values(options: Iterable[Option]) -> Values:
    """As the parser of the command line leaves options that were not given."""
    return {option.name: [] if option.has_many else None if option.read else False for option in options}


def read_fields(given: Mapping[str, FieldValue], options: Iterable[Option], mistakes: list[FieldMistake]) -> Values:
    """The values of the fields that are filled in. Empty text is as good as no text."""
    by_name = {option.name: option for option in options}
    found: Values = {}
    for key, value in given.items():
        option = by_name.get(key.replace("-", "_"))
        if option is None:
            mistakes.append(FieldMistake(key, f"{shown(key)} cannot be set in this form"))
            continue
        if option.read is None:
            if value is not False and value != "":
                found[option.name] = True if value is True else NONE
            continue
        words = [word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str) and word]
        read = [one for word in words for one in _read(option, word, mistakes)]
        if read:
            found[option.name] = read if option.has_many else read[-1]
    return found


def _read(option: Option, word: str, mistakes: list[FieldMistake]) -> list[object]:
    assert option.read is not None
    try:
        return [option.read(word)]
    except ValueError as error:
        said = f"{word.partition('=')[0]}=…" if option.is_secret and "=" in word else shown(word)
        mistakes.append(FieldMistake(option.name, f"{said}: {error}", option.help))
        return []


def words_of(command: str, *, shell: bool | None, mistakes: list[FieldMistake]) -> list[str] | str:
    """The words of a command, or the string for the shell. `shell` None: a string if only a shell can run it."""
    if not command.strip():
        mistakes.append(FieldMistake("command", "the command is empty", "give the command to run: python train.py"))
        return []
    if shell:
        return command
    try:
        words = split_words(command.strip())
    except NotWords as wrong:
        if wrong.needs_shell and shell is None:
            return command
        before = command[: wrong.column]
        line, column = before.count("\n") + 1, wrong.column - before.rfind("\n")
        mistakes.append(FieldMistake("command", str(wrong), None, line, column))
        return []
    return command if shell is None and _sets_variable(words) else words


def _sets_variable(words: list[str]) -> bool:
    name, equals, _ = words[0].partition("=") if words else ("", "", "")
    return bool(equals) and name.isidentifier() and name.isascii()


def mistake_of(error: TarmacError, field: str | None) -> FieldMistake:
    """A refusal of the whole form, at the first option that it names, or else at `field`."""
    named = [_FLAGS[flag] for flag in _FLAG.findall(error.message) if flag in _FLAGS]
    message = error.message
    for verb in ("add: ", "sweep: ", "edit: ", "clone: "):
        message = message.removeprefix(verb)
    return FieldMistake(named[0] if named else field, message, error.hint)
