"""The client that verbs talk through, with what a person should hear when it has to start a controller."""

from __future__ import annotations

from tarmac.client import Client


def connect(*, start: bool = True) -> Client:
    client = Client(start=start)
    client.on_start = _tell_where
    return client


def _tell_where() -> None:
    from tarmac.cli.terminal import err
    from tarmac.paths import moved_note

    note = moved_note()
    if note is not None:
        err(f"tarmac: {note}\n")
