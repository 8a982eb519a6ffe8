"""A node that answers questions about files with the agent's own functions, and that can leave in the middle."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from tarmac.agent.files import job_files, objects
from tarmac.agent.files.checkouts import list_checkouts
from tarmac.refusal import unavailable

ANSWERS = {
    "list_files": job_files.list_files,
    "read_file": job_files.read_file,
    "list_checkouts": list_checkouts,
    "missing_objects": objects.missing_objects,
    "add_objects": objects.add_objects,
    "add_object_part": objects.add_object_part,
}


class AnsweringNode:
    """Stands in for the fleet. `answers_left`: after so many answers, the node is away."""

    def __init__(self, answers_left: int = 1_000_000, path: str | None = None) -> None:
        self.answers_left = answers_left
        self.asked: list[dict[str, Any]] = []
        self._path = path  # of the node's objects
        self._hello: object = object()
        self.first_piece: asyncio.Event | None = None  # set when one has arrived

    def join_again(self, answers_left: int = 1_000_000) -> None:
        self.answers_left = answers_left
        self._hello = object()

    def get(self, _: str) -> Any:
        is_there = self.answers_left > 0
        return SimpleNamespace(hello=self._hello if is_there else None, is_connected=is_there)

    def is_elsewhere(self, _: str) -> bool:
        return True

    async def ask(self, _: str, frame: dict[str, Any]) -> Any:
        self.answers_left -= 1
        if self.answers_left < 0:
            raise unavailable("agent.unreachable")
        self.asked.append(frame)
        if self.first_piece is not None and frame["type"].startswith("add"):
            self.first_piece.set()
        if "objects" in frame and self._path is not None:
            frame = {**frame, "objects": self._path}
        return ANSWERS[frame["type"]](frame)  # type: ignore[operator]
