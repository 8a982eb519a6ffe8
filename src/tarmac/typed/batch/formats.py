"""The formats of a batch, each a function from lines to entries: commands, shell lines, JSON lines and GPUPeasy's."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Self

from tarmac.shared.job_options import BY_WIRE
from tarmac.typed.batch.parts import COMMAND, COMMENT, Batch, Cell, Entry, Mistake
from tarmac.typed.batch.table import NAMES, NOT_IN_FILES, count_rows, of_the_batch, read_table
from tarmac.typed.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tarmac.typed.batch.source import Format

SEPARATOR = ";;"
KEYS = (*NAMES, *(wire for wire, option in BY_WIRE.items() if option.verbs))


def read_batch(lines: Sequence[str], form: Format) -> Batch:
    return READERS[form](lines)


def count_entries(lines: Sequence[str], form: Format) -> int:
    """How many jobs the batch has if it has no mistakes, without reading them."""
    return count_rows(lines) if form == "csv" else sum(1 for _ in _with_content(lines))


def _with_content(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith(COMMENT):
            yield number, line


def read_commands(lines: Sequence[str], name: str = COMMAND) -> Batch:
    return Batch(
        [
            Entry(number, [Cell(name, line.strip(), number, len(line) - len(line.lstrip()) + 1)])
            for number, line in _with_content(lines)
        ],
        [],
    )


def read_shell(lines: Sequence[str]) -> Batch:
    return read_commands(lines, "shell")


def read_gpupeasy(lines: Sequence[str]) -> Batch:
    """`name;;outfile;;command`. Nothing may be empty."""
    batch = Batch([], [])
    for number, line in _with_content(lines):
        parts = line.split(SEPARATOR, 2)
        if len(parts) < 3:
            message = f"expected name{SEPARATOR}outfile{SEPARATOR}command, but found {len(parts)} of these 3"
            batch.mistakes.append(Mistake(number, len(line) + 1, message))
            continue
        cells = []
        at = 1
        for name, part in zip(("name", "log", COMMAND), parts, strict=True):
            column = at + len(part) - len(part.lstrip())
            if not part.strip():
                batch.mistakes.append(Mistake(number, column, f"the {'outfile' if name == 'log' else name} is empty"))
            cells.append(Cell(name, part.strip(), number, column))
            at += len(part) + len(SEPARATOR)
        batch.entries.append(Entry(number, cells))
    return batch


def read_json_lines(lines: Sequence[str]) -> Batch:
    """An object per line. Keys are names of options, or the names of the API."""
    batch = Batch([], [])
    decode = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_Float).decode
    for number, line in _with_content(lines):
        try:
            found = decode(line)
        except json.JSONDecodeError as error:
            message = (
                "a JSON array is not JSON lines; write each object on its own line"
                if line[:1] == "["
                else (f"it is not JSON: {error.msg[:1].lower()}{error.msg[1:]}")
            )
            batch.mistakes.append(Mistake(number, error.colno, message))
            continue
        if not isinstance(found, _Pairs):
            batch.mistakes.append(Mistake(number, 1, 'each line must be an object: {"command": …}'))
            continue
        batch.entries.append(Entry(number, list(_cells(found, number, line, batch.mistakes))))
    return batch


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, in order, repeated keys included."""


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    return _Pairs(pairs)


def _cells(pairs: _Pairs, number: int, line: str, mistakes: list[Mistake]) -> Iterator[Cell]:
    seen: set[str] = set()
    for key, value in pairs:
        name = key.replace("-", "_")
        column = _column(line, key)
        if name in NOT_IN_FILES:
            mistakes.append(Mistake(number, column, of_the_batch(name)))
        elif name not in KEYS:
            near = nearest(name, KEYS)
            hint = f"; did you mean {near}?" if near else ""
            mistakes.append(Mistake(number, column, f"unknown key {key!r}{hint}"))
        elif (option := name if name in NAMES else BY_WIRE[name].name) in seen:
            mistakes.append(Mistake(number, column, f"{option} is given twice"))
        elif value is not None:
            seen.add(option)
            yield Cell(option, _plain(option, value), number, column, is_wire=name not in NAMES)


def _plain(option: str, value: Any) -> Any:
    """Objects as dicts; that of `env` as a list of NAME=VALUE, unless a value is not a text, number or switch."""
    if isinstance(value, _Pairs):
        if option == "env" and not any(one is None or isinstance(one, list) for _, one in value):
            return [f"{name}={json.dumps(one) if isinstance(one, bool) else one}" for name, one in value]
        return dict(value)
    return [_plain("", one) for one in value] if isinstance(value, list) else value


class _Float(float):
    """A number that remembers how it is written: 1e-3."""

    def __new__(cls, source: str) -> Self:
        found = super().__new__(cls, source)
        found.source = source
        return found

    source: str

    def __str__(self) -> str:
        return self.source


def _column(line: str, key: str) -> int:
    """Where the value of this key begins."""
    found = re.search(rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*", line)
    return 1 if found is None else found.end() + 1


READERS: dict[Format, Callable[[Sequence[str]], Batch]] = {
    "lines": read_commands,
    "shell": read_shell,
    "csv": read_table,
    "jsonl": read_json_lines,
    "gpupeasy": read_gpupeasy,
}
