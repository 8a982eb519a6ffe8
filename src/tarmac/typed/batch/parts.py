"""The parts of a batch file: an entry for each job, with the cells that were given, and mistakes with their places."""

from __future__ import annotations

from typing import NamedTuple

COMMAND = "command"  # the cell with the command, which is not an option
COMMENT = "#"


class Mistake(NamedTuple):
    """Line and column count from 1."""

    line: int
    column: int
    message: str


class Cell(NamedTuple):
    """One value of a job. `name`: of a job option, or COMMAND. `value`: text, or in JSON any value."""

    name: str
    value: object
    line: int
    column: int
    is_wire: bool = False  # named and written as on the wire


class Entry(NamedTuple):
    """One job of the file."""

    line: int
    cells: list[Cell]


class Batch(NamedTuple):
    """A file that was read."""

    entries: list[Entry]
    mistakes: list[Mistake]
