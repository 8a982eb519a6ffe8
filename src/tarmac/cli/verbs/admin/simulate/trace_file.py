"""Reads a trace as CSV: one job per row, columns in any order. The whole file is checked before the simulation."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

from tarmac.cli.parser import shown
from tarmac.cli.verbs.admin.simulate.columns import COLUMNS, EXCLUSIVE, FACTOR, NEEDED
from tarmac.errors import UserError
from tarmac.sim.limits import multiple
from tarmac.sim.trace import TraceJob, trace_job

if TYPE_CHECKING:
    from collections.abc import Iterable

STDIN = "-"


def read_trace(path: str) -> list[TraceJob]:
    if path == STDIN:
        return trace_of(sys.stdin, "stdin")
    with open(path, encoding="utf-8-sig", newline="") as file:
        return trace_of(file, path)


def trace_of(lines: Iterable[str], where: str) -> list[TraceJob]:
    rows = csv.reader(lines, strict=True)
    try:
        columns = _columns(next(rows, []), where)
        jobs = [_job(row, columns, f"{where}, line {rows.line_num}") for row in rows if any(map(str.strip, row))]
    except csv.Error as error:
        raise UserError(f"{where}, line {rows.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{where} is not UTF-8") from None
    if not jobs:
        raise UserError(f"{where} contains no jobs", "write one row per job below the header")
    return jobs


def _columns(header: list[str], where: str) -> list[str]:
    names = [name.strip().lower() for name in header]
    missing = [name for name in NEEDED if name not in names]
    hint = f"columns: {', '.join(NEEDED)}; optional: {', '.join(name for name in COLUMNS if name not in NEEDED)}"
    if missing:
        raise UserError(f"{where}, line 1: missing column {', '.join(missing)}", hint)
    for name in names:
        if name not in COLUMNS:
            raise UserError(f"{where}, line 1: unknown column {shown(name)}", hint)
        if names.count(name) > 1:
            raise UserError(f"{where}, line 1: column {name} occurs twice", hint)
        if same := [other for other in names if other != name and COLUMNS.get(other) == COLUMNS[name]]:
            raise UserError(f"{where}, line 1: columns {name} and {same[0]} are the same", hint)
    return names


def _job(row: list[str], columns: list[str], where: str) -> TraceJob:
    if len(row) != len(columns):
        raise UserError(f"{where}: has {len(row)} values for {len(columns)} columns")
    fields: dict[str, Any] = {}
    given: dict[str, str] = {}  # field -> column
    for column, word in zip(columns, map(str.strip, row), strict=True):
        name, read = COLUMNS[column]
        if not word:
            if column in NEEDED:
                raise UserError(f"{where}: {column} is empty")
            continue
        given[name] = column
        try:
            fields[name] = read(word)
        except ValueError as error:
            raise UserError(f"{where}: {column} {shown(word)}: {error}") from None
    for one, other in EXCLUSIVE:
        if one in given and other in given:
            raise UserError(f"{where}: {given[one]} and {given[other]} exclude each other")
    factor = fields.pop(FACTOR, None)
    if factor is not None:
        fields["limit_s"] = multiple(factor, fields["duration_s"])
    return trace_job(**fields)
