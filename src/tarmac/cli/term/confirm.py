"""Asks for consent before something is removed or replaced."""

from __future__ import annotations

from tarmac.cli.term.terminal import STDERR, err, is_terminal
from tarmac.errors import UserError

STDIN = 0


def confirm(verb: str, question: str, *, yes: bool) -> bool:
    """True if the user agrees, on a terminal or with --yes. Refuses to go on if nobody can be asked."""
    if yes:
        return True
    if not (is_terminal(STDIN) and is_terminal(STDERR)):
        raise UserError(f"{verb}: this needs your consent", "add --yes to go ahead, or run it on a terminal")
    err(f"{question} [y/N] ")
    import sys

    return sys.stdin.readline().strip().lower() in {"y", "yes"}
