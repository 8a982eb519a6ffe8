"""Options that change a job which was submitted before: for `edit`, `clone` and `rerun`."""

from __future__ import annotations

import os

from tarmac.cli.args.job_options import options_of
from tarmac.cli.parser import Option
from tarmac.typed.changes import changes
from tarmac.typed.words import NotWords, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client import Client


def edit_options() -> list[Option]:
    command = Option("--command", None, "another command, split into words as a shell does", "LINE", _words)
    return [command, *options_of("edit")]


def _words(line: str) -> list[str]:
    try:
        words = split_words(line)
    except NotWords as wrong:
        raise ValueError(f"{wrong}; --shell takes a shell string") from None
    if not words:
        raise ValueError("it is empty")
    return words


def changes_here(client: Client, verb: str, values: Values) -> dict[str, Any]:
    """What is sent. Paths are relative to the current directory."""
    return changes(verb, values, client.number_of, os.getcwd())
