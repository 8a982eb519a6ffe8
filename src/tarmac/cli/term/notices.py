"""Notices of a command that waits: why it may take a while."""

from __future__ import annotations

from tarmac.cli.render.text import safe
from tarmac.cli.term.terminal import err


def tell(notice: str) -> None:
    """Also if stderr is not a terminal: a script that hangs must leave a trace of the reason."""
    err(f"tarmac: {safe(notice)}\n")
