"""Values that are completed on the machine of the user: variables of the environment, files, and `~` in paths."""

from __future__ import annotations

import os

from tarmac.typed import values
from tarmac.typed.option import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def variable(word: str) -> str:
    """NAME=VALUE. A plain NAME takes its value from the environment."""
    name, equals, _ = word.partition("=")
    if not name:
        raise ValueError("it must be NAME=VALUE, or the NAME of one of your variables")
    if equals or not (name.isidentifier() and name.isascii()):
        return values.variable(word if equals else f"{name}=")
    if name not in os.environ:
        raise ValueError(f"{shown(name)} is not set here; give its value: {name}=…")
    return values.variable(f"{name}={os.environ[name]}")


def env_file(word: str) -> list[str]:
    """The variables of a file, `NAME=VALUE` each."""
    from tarmac.cli.args.env_file import read

    return read(os.path.expanduser(word))


def environment_path(word: str) -> str:
    """`~` on another machine is expanded with the submit."""
    path = values.environment_path(word)
    return path if os.environ.get("TARMAC_HOST") else os.path.expanduser(path)


READERS: dict[str, Callable[[str], object]] = {
    "variable": variable, "env_file": env_file, "environment_path": environment_path,
}  # fmt: skip
