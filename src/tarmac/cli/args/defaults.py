"""Defaults for the options of jobs: from the config file, the project's .tarmac.toml and a template, in this order.

A later one wins over an earlier one, and the command line over all. Each value remembers where it came from.
"""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.cli.args.job_options import options_of
from tarmac.cli.parser import NONE
from tarmac.cli.render.text import safe
from tarmac.cli.term.terminal import err
from tarmac.errors import UserError
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.own.strict_modes import is_open_to_others
from tarmac.typed.file_values import TypedValues
from tarmac.typed.layers import is_given, overlay
from tarmac.typed.suggest import nearest

if TYPE_CHECKING:
    from tarmac.cli.args.default_files import DefaultFiles
    from tarmac.cli.parser import Values
    from tarmac.client import Client

TABLE = "defaults"
NAMES = {
    option.name.replace("_", "-"): option for option in JOB_OPTIONS if option.can_default and "add" in option.verbs
}
FROM_FILE = ("cwd", "env_file", "venv", "conda")  # paths that are relative to the directory of a project's file
FOR_GROUPS = ("max_running",)


class Layer(NamedTuple):
    """Values by the names of options, and where they come from."""

    values: dict[str, Any]
    origin: str


def layered(client: Client, values: Values, files: DefaultFiles) -> Values:
    """The values of the command line over all defaults; `origins` says where the defaults come from, by option."""
    layers = []
    if files.config is not None:
        layers.append(_of_file(files.config, base=None))
    if files.project is not None and _is_trusted(files.project):
        layers.append(_of_file(files.project, base=os.path.dirname(files.project)))
    if values.get("template") is not None:
        layers.append(_of_template(client, values["template"]))
    below: Values = {}
    origins: dict[str, str] = {}
    for layer in layers:
        below = overlay(below, layer.values)
        origins |= dict.fromkeys(layer.values, layer.origin)
    return _together(values, below, origins)


def _together(values: Values, below: Values, origins: dict[str, str]) -> Values:
    """Options that this verb does not have are left out, and so is a limit for a group if there is none."""
    is_group = values.get("array") is not None or bool(values.get("batch")) or "zip" in values
    known = {name: value for name, value in below.items() if name in values and (is_group or name not in FOR_GROUPS)}
    given = {option.name: values[option.name] for option in JOB_OPTIONS if option.name in values}
    merged = overlay({**values, **known}, given)
    merged["origins"] = {
        name: origins[name]
        for name, value in known.items()
        if is_given(value) and is_given(merged.get(name)) and (name == "env" or not is_given(given.get(name)))
    }
    if "env" in merged["origins"] and is_given(given.get("env")):
        if any(one in known["env"] and one not in given["env"] for one in merged["env"]):
            merged["origins"]["env"] += " and the command line"
        else:
            del merged["origins"]["env"]
    return merged


def _is_trusted(path: str) -> bool:
    """A file that another user wrote must not choose what your jobs do."""
    try:
        info = os.stat(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "correct it, or move it away") from None
    if info.st_uid not in {os.getuid(), 0}:
        err(f"tarmac: ignoring {safe(path)}: it belongs to another user\n")
        return False
    if is_open_to_others(info):
        err(f"tarmac: ignoring {safe(path)}: other users can change it; run `chmod go-w {safe(path)}`\n")
        return False
    return True


def _of_file(path: str, base: str | None) -> Layer:
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}", "correct it, or move it away") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "correct its mode, or move it away") from None
    table = found.get(TABLE, {})
    if base is not None and (other := next((key for key in found if key != TABLE), None)) is not None:
        raise UserError(f"{path}: unknown key {safe(other)}", f"write options of jobs below [{TABLE}]")
    if not isinstance(table, dict):
        raise UserError(f"{path}: {TABLE} is not a table", f"write [{TABLE}] on a line, and the options below it")
    return Layer(_read(path, table, base), path)


def _read(path: str, table: dict[str, Any], base: str | None) -> dict[str, Any]:
    typed, given = TypedValues(options_of("add"), has_types=True), dict[str, Any]()
    for key, value in table.items():
        name = key.replace("_", "-")
        option = NAMES.get(name)
        if option is None:
            near = nearest(name, NAMES)
            hint = f"did you mean {near}?" if near else "run `tarmac add --help` to list the options"
            raise UserError(f"{path}: {safe(key)} in [{TABLE}] is not an option that can have a default", hint)
        if option.name in FROM_FILE and base is not None:
            value = _below(base, value, is_path=option.name != "conda")
        try:
            typed.into(given, option.name, typed.read(option.name, value))
        except ValueError as error:
            raise UserError(
                f"{path}: {error}", f"{option.flag} {option.metavar}".rstrip() + f": {option.help}"
            ) from None
    return given


def _below(base: str, value: Any, *, is_path: bool = True) -> Any:
    """`none` is not a path. A conda environment without a slash is a name."""
    if isinstance(value, list):
        return [_below(base, one) for one in value]
    if not isinstance(value, str) or value == NONE or not (is_path or "/" in value):
        return value
    return os.path.normpath(os.path.join(base, value))


def _of_template(client: Client, name: str) -> Layer:
    from tarmac.client.templates import template

    options = template(client, name)["options"]
    given = {}
    for option in JOB_OPTIONS:
        if option.wire in options and option.name != "signal":
            given[option.name] = options[option.wire]
    signals = [options[name] for name in ("signal", "warn") if name in options]
    return Layer(given | ({"signal": signals} if signals else {}), f"template {name}")
