"""The snapshots of a submit: one for each directory that its jobs come from."""

from __future__ import annotations

import os

from tarmac.client.snapshots.take import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tarmac.client.connection import Link


class SubmitSnapshots:
    """Replaces what jobs say about snapshots (`snapshot`: true, `link`) by what a submit takes."""

    def __init__(self, client: Link, body: dict[str, Any], on_hint: Callable[[str], object] | None) -> None:
        self._client = client
        self._body = body
        self._on_hint = on_hint or (lambda _: None)
        self._places: dict[tuple[str, tuple[str, ...]], int] = {}

    def take(self, *, is_default: bool = False) -> None:
        """`is_default`: also for jobs that say nothing."""
        for job in self._body["jobs"]:
            links = tuple(os.fspath(link) for link in job.pop("link", ()))
            if job.get("snapshot") is False or not (links or job.get("snapshot") is True or is_default):
                continue
            job["snapshot"] = self._places.setdefault((job["cwd"], links), len(self._places))
        self._body["snapshots"] = [take(self._client, cwd, links, self._on_hint) for cwd, links in self._places]
        self._tell_absolute_paths()

    def renew(self) -> None:
        """Take them again: the controller does not have them."""
        places = self._places
        self._body["snapshots"] = [take(self._client, *place, lambda _: None, is_lost=True) for place in places]

    def _tell_absolute_paths(self) -> None:
        """An absolute path in a command leads to the original file, which may change."""
        told: set[str] = set()
        for job in self._body["jobs"]:
            place = job.get("snapshot")
            if not isinstance(place, int) or isinstance(place, bool):
                continue
            below = self._body["snapshots"][place]["root"].rstrip("/") + "/"
            told |= {word for word in job.get("command", ()) if word.startswith(below)}
        for word in sorted(told)[:3]:
            self._on_hint(f"{word} is the original file, not the one of the snapshot; write it as a relative path")
