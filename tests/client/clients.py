"""Clients of a stub on a socket."""

from pathlib import Path

from tarmac.client import Client


def a_client(path: Path) -> Client:
    return Client(path.parent, start=False)
