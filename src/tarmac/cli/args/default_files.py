"""Finds the files that may contain defaults for jobs. Every submit looks for them, so this costs a few system calls."""

from __future__ import annotations

import os

from tarmac.paths import config_path
from tarmac.typed.requests import settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client

PROJECT = ".tarmac.toml"


class DefaultFiles:
    """Paths; None for a file that does not exist."""

    __slots__ = ("config", "project")

    def __init__(self) -> None:
        self.config = _config()
        self.project = _project()


def with_defaults(client: Client, values: Values) -> Values:
    """The values of the command line, over what files and the template say."""
    files = DefaultFiles()
    if files.config is None and files.project is None and values.get("template") is None:
        return settled(values)
    from tarmac.cli.args.defaults import layered

    return settled(layered(client, values, files))


def _config() -> str | None:
    """The config file, if it has defaults."""
    path = config_path()
    try:
        with open(path, "rb") as file:
            return path if b"defaults" in file.read() else None
    except OSError:
        return None  # the controller reports a config file that cannot be read


def _project() -> str | None:
    """The file of the project: in the current directory, or the nearest one above it."""
    try:
        directory = os.getcwd()
    except OSError:
        return None  # the submit reports it
    while True:
        path = os.path.join(directory, PROJECT)
        if os.path.lexists(path):  # also a link to nowhere, which is refused
            return path
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above
