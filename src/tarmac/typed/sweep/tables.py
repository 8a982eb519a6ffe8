"""The rows of `sweep --from FILE`: CSV with a header, JSON, JSON lines, or YAML.

Values stay as they are written: 1e-3 in a JSON or YAML file arrives as 1e-3, not as 0.001.
"""

from __future__ import annotations

import re

from tarmac.errors import UserError
from tarmac.typed.option import shown
from tarmac.typed.sweep.parameters import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Row = dict[str, str]

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
_ENDINGS = {
    "csv": "csv", "tsv": "tsv", "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
_WITHOUT_LINES = ("json", "yaml")  # their rows are counted


def rows_of(content: str, path: str) -> list[Row]:
    """The rows of a file, or of standard input if its path is `-`.

    Refuses a file without rows, rows with other names than the first, and a row that is there twice.
    """
    name = "standard input" if path == "-" else path
    kind = _guessed(content) if path == "-" else _ENDINGS.get(path.rpartition(".")[2].lower(), "")
    if not kind:
        raise UserError(
            f"sweep: --from {shown(path)}: unknown kind of file",
            "name it .csv, .tsv, .json, .jsonl or .yaml, or pass it as -",
        )
    rows = list(_READERS[kind](content, name))
    if not rows:
        raise UserError(f"sweep: {name} has no rows", "give one row of values for each job")
    for column in rows[0][1]:
        check_name(column)
    _refuse_uneven(rows, name, "row" if kind in _WITHOUT_LINES else "line")
    return [row for _, row in rows]


def _guessed(content: str) -> str:
    """The kind of what comes from standard input."""
    first = next((line for line in content.splitlines() if line.strip() and not line.startswith("#")), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    if first.lstrip().startswith("["):
        return "json"
    return "yaml" if first.startswith("- ") or re.match(r"[A-Za-z_]\w*:(\s|$)", first) else "csv"


def _csv(content: str, name: str, delimiter: str = "") -> Iterator[tuple[int, Row]]:
    import csv

    from tarmac.typed.batch.table import separator_of

    delimiter = delimiter or separator_of(next((line for line in content.splitlines() if line.strip()), ""))
    separator = _SEPARATORS[delimiter]
    lines = csv.reader(content.splitlines(keepends=True), delimiter=delimiter, strict=True)
    header: list[str] = []
    try:
        for cells in lines:
            if not cells or not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                twice = next((one for one in header if header.count(one) > 1), None)
                if twice is not None:
                    raise UserError(f"sweep: {name} has two columns named {shown(twice)}", "rename one of them")
                continue
            if len(cells) != len(header):
                raise UserError(
                    f"sweep: {name}, line {lines.line_num}: {_counted(len(cells), 'value')} for "
                    f"{_counted(len(header), 'column')}",
                    f"quote values that contain a {separator}"
                    if len(cells) > len(header)
                    else f"write a {separator} for each empty value",
                )
            yield lines.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise UserError(f"sweep: {name}, line {lines.line_num}: {error}", "check the quotes in this line") from None


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _json(content: str, name: str) -> Iterator[tuple[int, Row]]:
    """A list of objects; otherwise it is read as JSON lines."""
    if not content.lstrip().startswith("["):
        yield from _jsonl(content, name)
        return
    import json

    try:
        rows = json.loads(content, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal)
    except json.JSONDecodeError as error:
        raise UserError(f"sweep: {name}, line {error.lineno}: {error.msg}", "write a list of JSON objects") from None
    if not all(isinstance(row, dict) for row in rows):
        raise UserError(f"sweep: {name} is not a list of objects", 'write [{"lr": 1e-3, "seed": 1}, …]')
    for number, row in enumerate(rows, 1):
        yield number, {str(key): _scalar(value, f"{name}, row {number}", key) for key, value in row.items()}


def _jsonl(content: str, name: str) -> Iterator[tuple[int, Row]]:
    import json

    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal)
        except ValueError as error:
            raise UserError(f"sweep: {name}, line {number}: {error}", "write one JSON object a line") from None
        if not isinstance(row, dict):
            raise UserError(f"sweep: {name}, line {number} is not an object", 'write {"lr": 1e-3, "seed": 1}')
        yield number, {str(key): _scalar(value, f"{name}, line {number}", key) for key, value in row.items()}


_NULL = "tag:yaml.org,2002:null"


class _Literal(str):
    """A number as it is written."""

    __slots__ = ()


def _yaml(content: str, name: str) -> Iterator[tuple[int, Row]]:
    """A list of rows. Scalars stay texts, except `~`, `null` and nothing at all, which are empty."""
    import yaml  # type: ignore[import-untyped]

    class Loader(yaml.BaseLoader):  # type: ignore[misc]
        """Makes lists, dicts, strings and None only."""

    Loader.add_implicit_resolver(_NULL, re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    Loader.add_constructor(_NULL, lambda _, __: None)
    try:
        rows = yaml.load(content, Loader=Loader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1
        raise UserError(f"sweep: {name}, line {line}: {error.problem}", "check the YAML before this place") from None
    except yaml.YAMLError as error:
        raise UserError(f"sweep: {name} is not YAML: {' '.join(str(error).split())}", "save it as plain text") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"sweep: {name} is not a list of rows", "write `- {lr: 1e-3, seed: 1}`, one row a line")
    for number, row in enumerate(rows, 1):
        yield number, {str(key): _scalar(value, f"{name}, row {number}", key) for key, value in row.items()}


def _scalar(value: Any, where: str, key: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    raise UserError(f"sweep: {where}: {shown(key)} is a list or an object", "give a text or a number")


def _refuse_uneven(rows: list[tuple[int, Row]], name: str, unit: str) -> None:
    """`unit`: what the numbers count, lines or rows."""
    columns = rows[0][1].keys()
    seen: dict[tuple[str, ...], int] = {}
    for number, row in rows:
        if row.keys() != columns:
            odd = next(iter(row.keys() ^ columns))
            said = "misses" if odd in columns else "has"
            raise UserError(
                f"sweep: {name}, {unit} {number} {said} {shown(odd)}, unlike the first row",
                "name the same values in all rows",
            )
        values = tuple(row[column] for column in columns)
        if values in seen:
            raise UserError(f"sweep: {name}, {unit} {number} repeats {unit} {seen[values]}", "leave out one of them")
        seen[values] = number


_READERS: dict[str, Callable[[str, str], Iterator[tuple[int, Row]]]] = {
    "csv": _csv,
    "tsv": lambda content, name: _csv(content, name, "\t"),
    "json": _json,
    "jsonl": _jsonl,
    "yaml": _yaml,
}
