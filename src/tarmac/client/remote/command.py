"""The command line of `ssh`, and what it runs on the other machine.

The login shell there may be bash, tcsh, fish or another. The command is therefore one line for /bin/sh in single
quotes, without any character that one of them treats specially inside such quotes.
"""

from __future__ import annotations

import os

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.remote.address import Address

VARIABLE = "TARMAC_REMOTE_COMMAND"
# Non-interactive shells often lack ~/.local/bin.
PROGRAMS = 'tarmac "$HOME/.local/bin/tarmac"'
MARK = '"$m"'  # the mark, among the words of a command
MISSING = "missing"  # said instead of an answer, where there is no tarmac
OPTIONS = (
    "-a", "-x",  # neither the agent nor X11 is forwarded
    "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4",
    "-o", "RemoteCommand=none",  # one of the user's configuration is for people
)  # fmt: skip


def ssh(
    address: Address, command: str, *, batch: bool, more: Sequence[str] = ("-T",), forwards: bool = False
) -> list[str]:
    """`batch`: never ask a person, because nobody would answer. `forwards`: `more` forwards a port."""
    asks = ["-o", "BatchMode=yes"] if batch else []
    ports = [] if forwards else ["-o", "ClearAllForwardings=yes"]
    return ["ssh", *OPTIONS, *asks, *ports, *more, *address.arguments(), command]


def remote_command(mark: str, words: Sequence[str]) -> str:
    """Runs `tarmac` there with words of letters, digits and hyphens. Says `mark` and MISSING if there is none.

    The mark is put together there: a shell that prints what it runs must not be taken for an answer.
    """
    line = " ".join(words)
    begin = f'unset TARMAC_HOST; m={mark[:8]}; m="$m"{mark[8:]}'
    own = os.environ.get(VARIABLE)
    if own:
        _refuse_unquotable(own)
        return f"exec /bin/sh -c '{begin}; {own} {line}'"
    look = f'for t in {PROGRAMS}; do if command -v "$t" >/dev/null 2>&1; then exec "$t" {line}; fi; done'
    return f"exec /bin/sh -c '{begin}; {look}; echo; echo {MARK} {MISSING}; exit 127'"


def _refuse_unquotable(command: str) -> None:
    if not command.isprintable() or set(command) & set("'\\!"):
        raise UserError(
            f"{VARIABLE} contains a quote, a backslash, an exclamation mark or a line end",
            f"put the command into a script there, and set {VARIABLE} to the path of the script",
        )
