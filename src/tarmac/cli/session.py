"""The client that verbs use. It informs the user when it starts a controller or the controller cannot write."""

from __future__ import annotations

from tarmac.client import Client


def connect(*, start: bool = True) -> Client:
    client = Client(start=start)
    client.on_start = _tell_where
    client.on_trouble = _Trouble(client)
    return client


class _Trouble:
    """Print the reason once, although every answer repeats it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __call__(self, trouble: str) -> None:
        from tarmac.cli.render.text import safe
        from tarmac.cli.term.terminal import err

        self.client.on_trouble = None
        err(f"tarmac: the controller cannot write: {safe(trouble)}\n")


def _tell_where() -> None:
    from tarmac.cli.term.terminal import err
    from tarmac.paths import moved_note

    note = moved_note()
    if note is not None:
        err(f"tarmac: {note}\n")
