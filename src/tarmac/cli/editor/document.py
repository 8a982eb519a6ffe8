"""The options of jobs as a TOML document with explanations, and what a user changed in it."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from tarmac.cli.args.edit_options import changes_here
from tarmac.cli.args.job_options import options_of
from tarmac.cli.render.text import safe
from tarmac.errors import UserError
from tarmac.typed.file_values import TypedValues
from tarmac.typed.option_groups import OPTION_GROUPS
from tarmac.typed.suggest import nearest
from tarmac.typed.written import COMMANDS, typed_options
from tarmac.typed.written import EDITABLE as OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tarmac.client import Client
    from tarmac.shared.job_options import JobOption

KEYS = ("command", *OPTIONS)
COMMENT_AT = 34  # column


def document(jobs: Mapping[str, Mapping[str, Any]], title: str) -> str:
    """A table for each job, or none around the options of a single one."""
    lines = [
        f"# {safe(title)}",
        "# Change the options, save, and close the editor. A line that you remove resets its option.",
        "# An unchanged file changes nothing.",
        "",
    ]
    for job, options in jobs.items():
        if len(jobs) > 1:
            lines.append(f"[{job}]")
        lines += [*_lines(typed_options(options)), ""]
    return "\n".join(lines)


def _lines(typed: Mapping[str, Any]) -> Iterator[str]:
    for name in COMMANDS:
        if name in typed:
            yield f"{name} = {toml(typed[name])}"
    by_flag = {option.flag: option for option in OPTIONS.values()}
    for title, flags in OPTION_GROUPS:
        options = [by_flag[flag] for flag in flags if flag in by_flag and flag[2:] not in COMMANDS]
        if options:
            yield f"\n# {title}"
            yield from (_line(option, typed) for option in options)


def _line(option: JobOption, typed: Mapping[str, Any]) -> str:
    key = option.name.replace("_", "-")
    example = option.metavar.lower() if option.metavar else "true"
    line = f"{key} = {toml(typed[key])}" if key in typed else f"# {key} = {example}"
    return f"{line.ljust(COMMENT_AT)}  # {option.help}"


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def edited(text: str, jobs: Mapping[str, Mapping[str, Any]], client: Client) -> dict[str, dict[str, Any]]:
    """The changes to each job that differs now. Raises UserError, also if the text is not TOML."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"edit: the file is not TOML: {error}") from None
    tables = {next(iter(jobs)): found} if len(jobs) == 1 else found
    for name, table in tables.items():
        if name not in jobs or not isinstance(table, dict):
            raise UserError(f"edit: {safe(name)} is not one of the jobs of this file", "keep the tables as they were")
    changed = {
        job: _changed(job if len(jobs) > 1 else "", tables[job], typed_options(options), client)
        for job, options in jobs.items()
        if job in tables
    }
    return {job: found for job, found in changed.items() if found}


def _changed(job: str, table: dict[str, Any], before: dict[str, Any], client: Client) -> dict[str, Any]:
    where = f"edit: job {job}: " if job else "edit: "
    typed, values = TypedValues(options_of("edit"), has_types=True), dict[str, Any]()
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in KEYS:
            near = nearest(name, KEYS)
            raise UserError(f"{where}unknown option {safe(key)}", f"did you mean {near}?" if near else None)
        if before.get(name) == value:
            continue
        try:
            if name in COMMANDS:
                values[name] = _command(name, value)
            else:
                option = name.replace("-", "_")
                typed.into(values, option, typed.read(option, value))
        except ValueError as error:
            raise UserError(f"{where}{error}") from None
    for key in before.keys() - {key.replace("_", "-") for key in table}:
        _clear(where, key, table, values)
    return changes_here(client, "edit", values)


def _command(name: str, value: object) -> Any:
    if name == "shell" and isinstance(value, str) and value.strip():
        return value
    if name == "command" and isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return value
    raise ValueError(f"{name} must be {'text' if name == 'shell' else 'a list of texts'}")


def _clear(where: str, key: str, table: dict[str, Any], values: dict[str, Any]) -> None:
    """A line was removed."""
    if key in COMMANDS:
        if not any(name in table for name in COMMANDS):
            raise UserError(f"{where}the command is missing", "give command or shell")
        return
    option = OPTIONS[key]
    if option.metavar and not option.can_clear:
        if option.name == "retry":
            values[option.name] = 0
        elif option.name != "cwd":
            raise UserError(f"{where}{key} cannot be removed", "give it another value")
    else:
        values[option.name] = ["none"] if option.is_many else "none"
