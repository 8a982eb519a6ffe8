"""CSV: a header with names of job options, then one job per row. Every cell knows the column where it begins.

Cells may be quoted, also over several lines; the separator is a comma, a semicolon or a tab, as in the header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.batch.parts import COMMAND, COMMENT, Batch, Cell, Entry, Mistake
from tarmac.typed.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOT_IN_FILES = ("array", "hold", "draft")  # they are about all jobs of the batch
NAMES = (COMMAND, *(option.name for option in JOB_OPTIONS if "add" in option.verbs and option.name not in NOT_IN_FILES))
MANY = frozenset(option.name for option in JOB_OPTIONS if option.is_many)
SEPARATORS = ",\t;"


class Field(NamedTuple):
    text: str
    line: int
    column: int


class Row(NamedTuple):
    line: int  # where it begins
    fields: list[Field]


def read_table(lines: Sequence[str]) -> Batch:
    batch = Batch([], [])
    rows = _rows(lines, separator_of(_first(lines)), batch.mistakes)
    header = next(rows, None)
    if header is None:
        return batch
    names = _names(header, batch.mistakes)
    for row in rows:
        if len(row.fields) > len(names):
            extra = row.fields[len(names)]
            message = f"the row has {len(row.fields)} cells, but the header has {len(names)}; quote a cell with commas"
            batch.mistakes.append(Mistake(extra.line, extra.column, message))
            continue
        cells = [
            Cell(name, field.text, field.line, field.column)
            for name, field in zip(names, row.fields, strict=False)
            if field.text and name
        ]
        batch.entries.append(Entry(row.line, cells))
    return batch


def is_header(line: str) -> bool:
    """The names of options, among them the command."""
    names = [_name(field) for field in line.split(separator_of(line))]
    return not {COMMAND, "shell"}.isdisjoint(names) and set(names) <= set(NAMES)


def _first(lines: Sequence[str]) -> str:
    return next((line for line in lines if not _is_skipped(line)), "")


def _is_skipped(line: str) -> bool:
    return not line.strip() or line.startswith(COMMENT)


def separator_of(header: str) -> str:
    """The separator that a header has most of; a comma if it has none."""
    return max(SEPARATORS, key=header.count)


def _name(text: str) -> str:
    return text.strip().strip('"').removeprefix("--").replace("-", "_").lower()


def _names(header: Row, mistakes: list[Mistake]) -> list[str]:
    """The option of each column; empty for one that is not known."""
    found: list[str] = []
    for field in header.fields:
        name = _name(field.text)
        if name in NOT_IN_FILES:
            mistakes.append(Mistake(field.line, field.column, of_the_batch(name)))
        elif name not in NAMES:
            near = nearest(name, NAMES)
            hint = f"; did you mean {near}?" if near else f"; the header needs names of options, such as {COMMAND}"
            mistakes.append(Mistake(field.line, field.column, f"unknown column {field.text.strip()!r}{hint}"))
        elif name in found and name not in MANY:
            mistakes.append(Mistake(field.line, field.column, f"the column {name} is there twice"))
        found.append(name if name in NAMES else "")
    if {COMMAND, "shell"} <= set(found):
        mistakes.append(Mistake(header.line, 1, "the header has both command and shell; leave out one of them"))
    return found


def of_the_batch(name: str) -> str:
    """Why an option cannot be given for a single job of the file."""
    if name == "array":
        return "array cannot be used in a batch; write a line for each job"
    return f"{name} applies to all jobs of the batch; give --{name} on the command line"


def count_rows(lines: Sequence[str]) -> int:
    """Without the header."""
    return max(0, sum(1 for _ in _spans(lines)) - 1)


def _spans(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each row begins, and where it has ended."""
    number = 0
    while number < len(lines):
        begin = number
        number += 1
        if _is_skipped(lines[begin]):
            continue
        quotes = lines[begin].count('"')
        while quotes % 2 == 1 and number < len(lines):  # a quoted cell goes on in the next line
            quotes += lines[number].count('"')
            number += 1
        yield begin, number


def _rows(lines: Sequence[str], separator: str, mistakes: list[Mistake]) -> Iterator[Row]:
    for begin, number in _spans(lines):
        line = lines[begin]
        if '"' not in line:
            yield Row(begin + 1, list(_plain(line, begin + 1, separator)))
            continue
        fields = _quoted("\n".join(lines[begin:number]), begin + 1, separator)
        if isinstance(fields, Mistake):
            mistakes.append(fields)
        else:
            yield Row(begin + 1, fields)


def _plain(line: str, number: int, separator: str) -> Iterator[Field]:
    at = 1
    for text in line.split(separator):
        yield Field(text.strip(), number, at + len(text) - len(text.lstrip()))
        at += len(text) + 1


def _quoted(text: str, number: int, separator: str) -> list[Field] | Mistake:
    """The cells of a row with quotes, in which `""` is a quote. `number`: of its first line."""
    fields: list[Field] = []
    at = 0
    while True:
        begin = at
        while text[begin : begin + 1] == " ":
            begin += 1
        if text[begin : begin + 1] == '"':
            value, end = _inside(text, begin)
            if end < 0:
                return Mistake(*_place(text, number, begin), 'the quote " is not closed')
            rest = _end(text, separator, end)
            if text[end:rest].strip():
                message = 'text after the closing quote; write "" for a quote inside a cell'
                return Mistake(*_place(text, number, end), message)
        else:
            rest = _end(text, separator, begin)
            value = text[begin:rest].strip()
        fields.append(Field(value, *_place(text, number, begin)))
        if rest == len(text):
            return fields
        at = rest + 1


def _end(text: str, separator: str, at: int) -> int:
    end = text.find(separator, at)
    return len(text) if end < 0 else end


def _place(text: str, number: int, at: int) -> tuple[int, int]:
    """Line and column of a position in a row that may have several lines."""
    return number + text.count("\n", 0, at), at - text.rfind("\n", 0, at)


def _inside(line: str, begin: int) -> tuple[str, int]:
    """The text of a quoted cell, and where it ends; -1 if its quote is not closed."""
    parts: list[str] = []
    at = begin + 1
    while (end := line.find('"', at)) >= 0:
        parts.append(line[at:end])
        if line[end + 1 : end + 2] != '"':
            return "".join(parts), end + 1
        parts.append('"')
        at = end + 2
    return "", -1
