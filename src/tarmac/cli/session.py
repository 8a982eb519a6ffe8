"""The client that verbs use. It informs the user when it starts a controller, and when something goes wrong."""

from __future__ import annotations

import os

from tarmac.cli.term import signals
from tarmac.client import Client

INTERRUPTED = 130


def connect(*, start: bool = True) -> Client:
    client = Client(start=start)
    client.on_start = _tell_where
    client.on_trouble = _Once("the controller cannot write: ")
    client.on_silence = lambda pid, silent_s: tell_silence(pid, silent_s, is_large=client.is_large)
    client.on_stale = _Once()
    if client.remote is not None:
        client.remote.on_note = _Once()
    signals.on(signals.SIGINT, _Interrupt(client))
    return client


class _Interrupt:
    """Ctrl-C ends a command. It says so if a request was sent whose outcome is not known yet."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __call__(self, _: int) -> None:
        if self.client.is_unsure:
            from tarmac.cli.term.terminal import err

            err("\ntarmac: interrupted; it is unknown whether the request was carried out\n")
            err("  run `tarmac ls` to check\n")
        if self.client.remote is not None:
            self.client.remote.end()
        os._exit(INTERRUPTED)


def tell_silence(pid: int, silent_s: float, *, is_large: bool = False) -> None:
    """Say once that the controller does not answer, and why as far as it is known."""
    from tarmac.client.transport import SILENCE_S

    if silent_s <= SILENCE_S:
        from tarmac.cli.term.terminal import err

        err("".join(f"{line}\n" for line in silence(pid, silent_s, is_large=is_large)))


def silence(pid: int, silent_s: float, *, is_large: bool = False) -> list[str]:
    """`is_large`: the request may be about very many jobs, so that the controller works on it for a while."""
    from tarmac.client.controller_process.liveness import is_stopped

    who = f"the controller (pid {pid})" if pid else "the controller"
    lines = [f"tarmac: {who} has not answered for {silent_s:.0f} s; still waiting"]
    if is_stopped(pid):
        return [*lines, f"  it is stopped, as by Ctrl-Z; run `kill -CONT {pid}` to continue it"]
    if is_large:
        return [f"tarmac: still waiting for {who} after {silent_s:.0f} s; a request about many jobs takes a while"]
    return lines


class _Once:
    """Print a reason once, although every answer repeats it."""

    def __init__(self, what: str = "") -> None:
        self.what = what
        self.is_told = False

    def __call__(self, reason: str) -> None:
        if self.is_told:
            return
        from tarmac.cli.render.text import safe
        from tarmac.cli.term.terminal import err

        self.is_told = True
        err(f"tarmac: {self.what}{safe(reason)}\n")


def _tell_where() -> None:
    from tarmac.cli.term.terminal import err
    from tarmac.paths import moved_note

    note = moved_note()
    if note is not None:
        err(f"tarmac: {note}\n")
