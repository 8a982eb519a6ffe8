"""The last line of a job's output, for the notification about its end. Read when the message is sent."""

from __future__ import annotations

import asyncio
import base64
import re
from typing import TYPE_CHECKING

from tarmac.controller.log_paths import is_elsewhere, stderr_path, stdout_path
from tarmac.core.model.ids import NodeName
from tarmac.refusal import Refused
from tarmac.shared.escapes import ESCAPES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet
    from tarmac.store.outbox import Waiting

TAIL_BYTES = 8192
PATIENCE_S = 2.0
LONGEST = 300  # characters
_ESCAPES = re.compile(ESCAPES)


class LastLines:
    def __init__(self, fleet: Fleet, state_folder: Path, find: Callable[[int], Job | None]) -> None:
        self._fleet = fleet
        self._state_folder = state_folder
        self._find = find

    async def of(self, one: Waiting) -> str | None:
        """None if it has none, or if it cannot be read at once."""
        job = None if one.job is None else self._find(one.job)
        node, attempt = one.detail.get("node"), one.detail.get("attempt")
        if job is None or not node or not attempt or is_elsewhere(job):
            return None
        try:
            async with asyncio.timeout(PATIENCE_S):
                for find in (stderr_path, stdout_path):  # stderr first, if it has a separate file: errors are there
                    line = await self._read(NodeName(node), find(self._state_folder, job, attempt))
                    if line is not None:
                        return line
        except (TimeoutError, Refused):
            pass
        return None

    async def _read(self, node: NodeName, path: str) -> str | None:
        answer = await self._fleet.ask(
            node, {"type": "read_log", "path": path, "offset": -TAIL_BYTES, "limit": TAIL_BYTES}
        )
        return last_line(base64.b64decode(answer.get("data", "")))


def last_line(output: bytes) -> str | None:
    """The last line that is not blank, as a reader would see it: of a progress bar, its last state."""
    text = _ESCAPES.sub("", output.decode("utf-8", "replace"))
    for line in reversed(re.split(r"[\r\n]+", text)):
        words = "".join(char for char in line if char.isprintable() or char == "\t").strip()
        if words:
            return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    return None
