"""The jobs of a batch: each cell read by the option it belongs to, over the options of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.errors import UserError
from tarmac.typed.batch.parts import COMMAND, Mistake
from tarmac.typed.file_values import BY_NAME, Several, TypedValues
from tarmac.typed.layers import overlay
from tarmac.typed.requests import dependencies, request_of
from tarmac.typed.words import NotWords, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.typed.batch.parts import Batch, Cell, Entry
    from tarmac.typed.option import Option, Values
    from tarmac.typed.requests import Body, NumberOf

TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (int, float), "str": (str,), "bool": (bool,), "texts": (list,), "gpus": (list,),
    "path": (str,), "moment": (int, float), "memory": (int, str),
}  # fmt: skip


class BatchJob(NamedTuple):
    entry: Entry
    request: Body

    def place_of(self, *names: str) -> tuple[int, int]:
        """Line and column of the first cell with one of these names; of the entry if none is given."""
        cells = [cell for name in names for cell in self.entry.cells if cell.name == name] or self.entry.cells
        return (cells[0].line, cells[0].column) if cells else (self.entry.line, 1)


class Jobs(NamedTuple):
    jobs: list[BatchJob]
    mistakes: list[Mistake]


def jobs_of(batch: Batch, values: Values, words: Sequence[str], options: Iterable[Option], number_of: NumberOf) -> Jobs:
    """`values` and `words` of the command line are defaults for every line."""
    reading = _Reading(values, list(words), options, number_of)
    found = Jobs([], list(batch.mistakes))
    for entry in batch.entries:
        job = reading.job(entry, found.mistakes)
        if job is not None:
            found.jobs.append(BatchJob(entry, job))
    if found.jobs and not found.mistakes and not reading.is_command_used and (words or values["shell"]):
        raise UserError(
            "add: every job of the file has a command, so the command after --batch is not used",
            "give a file or a command, not both",
        )
    return found


class _Wrong(ValueError):
    """`column` counts from the beginning of the cell, from 0."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.column = column


class _Reading:
    """Remembers what it read: many lines repeat the same cells."""

    def __init__(self, values: Values, words: list[str], options: Iterable[Option], number_of: NumberOf) -> None:
        self.values = {**values, "after": []}
        self.words = words
        self.is_command_used = False  # by an entry without a command
        self.after = tuple(part for parts in values["after"] for part in parts)
        self._number_of = number_of
        self._typed = TypedValues(options)
        self._dependencies: dict[tuple[str, ...], list[str]] = {}

    def job(self, entry: Entry, mistakes: list[Mistake]) -> Body | None:
        """None if the entry has a mistake."""
        count = len(mistakes)
        given: dict[str, Any] = {}
        for cell in entry.cells:
            try:
                self._take(cell, given)
            except _Wrong as wrong:
                mistakes.append(Mistake(cell.line, cell.column + wrong.column, str(wrong)))
        if len(mistakes) > count:
            return None
        words = given.pop(COMMAND, None)
        if words is not None and "shell" in given:
            mistakes.append(Mistake(entry.line, 1, "it has both a command and a shell string; leave out one of them"))
            return None
        self.is_command_used |= words is None and "shell" not in given
        values = overlay(self.values, given)
        if words is not None:
            values["shell"] = None
        elif values["shell"] is None and not self.words:
            mistakes.append(Mistake(entry.line, 1, "it has no command; name one in `command` or `shell`"))
            return None
        try:
            request = request_of("add", values, ([] if values["shell"] else self.words) if words is None else words)
            if after := tuple(part for parts in given.get("after", ()) for part in parts) or self.after:
                request["after"] = self._after(after)
        except UserError as error:
            hint = f"; {error.hint}" if error.hint and words is not None else ""
            mistakes.append(Mistake(entry.line, 1, f"{error.message.removeprefix('add: ')}{hint}"))
            return None
        return request

    def _after(self, words: tuple[str, ...]) -> list[str]:
        known = self._dependencies.get(words)
        if known is None:
            known = self._dependencies[words] = dependencies(self._number_of, [words])
        return known

    def _take(self, cell: Cell, given: dict[str, Any]) -> None:
        if cell.name == COMMAND:
            given[COMMAND] = self._command(cell.value)
            return
        if cell.is_wire:
            value = _wire(cell)
        else:
            try:
                value = self._typed.read(cell.name, cell.value)
            except ValueError as error:
                raise _Wrong(str(error)) from None
        self._typed.into(given, cell.name, value)

    def _command(self, value: object) -> list[str]:
        if isinstance(value, str):
            try:
                words = split_words(value)
            except NotWords as wrong:
                raise _Wrong(str(wrong), wrong.column) from None
            name, equals, _ = words[0].partition("=") if words else ("", "", "")
            if equals and name.isidentifier() and name.isascii():
                raise _Wrong(
                    f"{name}= needs a shell; set the variable with env or --env, or let a shell run the command"
                )
            return words
        if not isinstance(value, list) or not value or not all(_is_word(word) for word in value):
            raise _Wrong(f"{COMMAND} must be text or a list of texts and numbers")
        return [str(word) for word in value]


def _is_word(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _wire(cell: Cell) -> Any:
    """A value of the API, of which the controller checks more."""
    option, value = BY_NAME[cell.name], cell.value
    kinds = TYPES[option.type]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise _Wrong(f"{option.wire} must be {' or '.join(WORDS[kind] for kind in kinds)}")
    return Several(value) if isinstance(value, list) and option.is_many else value


WORDS: dict[type, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", list: "a list",
}  # fmt: skip
