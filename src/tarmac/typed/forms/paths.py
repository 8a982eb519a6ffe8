"""Paths of a form, as a shell in the home directory would have them: `~` is the home directory."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Any

from tarmac.typed.option import NONE
from tarmac.typed.requests import PATHS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.typed.forms.form import FieldValue
    from tarmac.typed.requests import Body


def absolute_job(job: Body, home: str) -> dict[str, Any]:
    """The job of a submit with its directory, which is the home directory if none is given, and absolute paths."""
    found = dict(job)
    base = found["cwd"] = os.path.normpath(os.path.join(home, _expanded(job.get("cwd", home), home)))
    for name in PATHS:
        if name in job:
            found[name] = os.path.normpath(os.path.join(base, _expanded(job[name], home)))
    for name in ("venv", "conda"):
        if name in job:
            found[name] = _expanded(job[name], home)
    return found


def for_terminal(options: Mapping[str, FieldValue], home: str) -> dict[str, FieldValue]:
    """The options of a form for a command line that may be typed in any directory."""
    found = dict(options)
    directory = found.get("cwd")
    is_given = isinstance(directory, str) and directory not in {"", NONE}
    found["cwd"] = os.path.normpath(os.path.join(home, _expanded(str(directory), home))) if is_given else home
    for name in PATHS:
        if isinstance(path := found.get(name), str):
            found[name] = _expanded(path, home)
    return found


def _expanded(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path
