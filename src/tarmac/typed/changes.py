"""What an edit sends, made of the values of options: for `edit`, `clone`, `rerun` and the page."""

from __future__ import annotations

import os.path

from tarmac.errors import UserError
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.layers import is_given
from tarmac.typed.option import NONE
from tarmac.typed.requests import PATHS, cleared, dependencies, filled_paths, flat, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.shared.job_options import JobOption
    from tarmac.typed.option import Values
    from tarmac.typed.requests import NumberOf


def changes(verb: str, values: Values, number_of: NumberOf, base: str) -> dict[str, Any]:
    """What is sent, by wire name; null, false or an empty list where an option was cleared.

    Paths are relative to the new directory of the job, or to `base`.
    """
    if values.get("command") is not None and values.get("shell") is not None:
        raise UserError(f"{verb}: --command and --shell exclude each other", "give one of them")
    if values.get("shell") is not None and not values["shell"].strip():
        raise UserError(f"{verb}: the shell string is empty", f"give one: `tarmac {verb} 7 -c 'make && ./train'`")
    found: dict[str, Any] = {name: values[name] for name in ("command", "shell") if values.get(name) is not None}
    for option in JOB_OPTIONS:
        value = values.get(option.name)
        if option.wire and "edit" in option.verbs and is_given(value):
            found[option.wire] = _sent(option, value)
    if values.get("env_file"):
        found["env"] = [*flat(values["env_file"]), *found.get("env", ())]
    if "signal" in found:
        given = found.pop("signal")
        found |= signals(verb, given) if given else {"signal": None, "warn": None}
    if found.get("after"):
        found["after"] = dependencies(number_of, values["after"])
    return _with_paths(found, base)


def _sent(option: JobOption, value: Any) -> Any:
    if option.is_many:
        return cleared(option, flat(value))
    if value == NONE:
        return None if option.metavar else False
    return value


def _with_paths(found: dict[str, Any], base: str) -> dict[str, Any]:
    if any("{" in (found.get(name) or "") for name in PATHS):
        found |= filled_paths({name: found[name] for name in PATHS if found.get(name)})
    if found.get("cwd"):
        base = found["cwd"] = os.path.join(base, found["cwd"])
    for name in PATHS:
        if found.get(name):
            found[name] = os.path.normpath(os.path.join(base, found[name]))
    return found
