"""Why a node could not be reached, as data: the API says it in words."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

FailureKind: TypeAlias = Literal[
    "login",  # the host wants a password, a second factor, or another key
    "host-key-unknown",
    "host-key-changed",
    "unreachable",  # no route, no such host, refused, timed out
    "silent",  # connected, but the marker did not come in time
    "stuck",  # the marker came, but the agent did not start in time
    "ended",  # the connection ended before the marker came
    "no-python",
    "node",  # a step on the node failed, such as on a full disk
    "same-machine",  # it is already a node, under another name
    "no-ssh",  # this machine has no `ssh`
]

_SIGNS: tuple[tuple[str, FailureKind], ...] = (
    (r"REMOTE HOST IDENTIFICATION HAS CHANGED|host key .* has changed", "host-key-changed"),
    (r"Host key verification failed|No \S+ host key is known", "host-key-unknown"),
    (r"Permission denied|Too many authentication failures|Authentication failed|keyboard-interactive", "login"),
    (r"Could not resolve|Connection (refused|reset|closed)|No route to host|Network is unreachable", "unreachable"),
    (r"timed out|banner exchange", "unreachable"),
)
PASSING: frozenset[FailureKind] = frozenset(("unreachable", "silent", "stuck", "ended", "node"))  # it may pass
OF_SSH = 255  # the exit code of `ssh` if it failed itself
LONGEST_SHOWN = 400  # characters of what came instead


class LinkFailed(ConnectionError):
    """`said` is what `ssh` or the node said, cut to a few lines."""

    def __init__(self, kind: FailureKind, said: str = "") -> None:
        self.kind = kind
        self.said = shown(said)
        super().__init__(f"{kind}: {self.said}" if self.said else kind)


def failure_of(errors: str, output: str, code: int | None) -> LinkFailed:
    """Find out what went wrong from the messages of `ssh` and its exit code, which is that of the shell if it got so
    far. Without a message that is known, the node itself ended the connection.
    """
    for signs, kind in _SIGNS if code in {None, OF_SSH} else ():
        if re.search(signs, errors, re.IGNORECASE):
            return LinkFailed(kind, errors)
    return LinkFailed("ended", f"{output}\n{errors}")


def shown(text: str) -> str:
    """Printable, without blank lines; the end, where the reason usually is."""
    lines = ("".join(char for char in line if char.isprintable()).strip() for line in text.splitlines())
    words = "\n".join(line for line in lines if line and not set(line) <= {"@"})
    return words if len(words) <= LONGEST_SHOWN else "…" + words[-LONGEST_SHOWN + 1 :]
