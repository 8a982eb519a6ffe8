"""How far running jobs are, read from the end of their logs when somebody looks, at most once a second each."""

from __future__ import annotations

import asyncio
import base64
from time import monotonic
from typing import TYPE_CHECKING

from tarmac.controller.log_paths import stdout_path
from tarmac.controller.progress.parser import TAIL_BYTES, Progress, read_progress
from tarmac.core.model.status import Running, Stopping, holds_booking
from tarmac.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.engine import Engine
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job

FRESH_S = 1.0
MOST_AT_ONCE = 200  # beyond that a list is not held up for bars nobody can read


class ProgressBoard:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[JobId, tuple[float, Progress | None]] = {}

    def get(self, job: JobId) -> Progress | None:
        known = self._known.get(job)
        return None if known is None else known[1]

    async def refresh(self, jobs: Iterable[Job]) -> None:
        now = monotonic()
        running = [job for job in jobs if isinstance(job.status, Running | Stopping)]
        stale = [job for job in running if now - self._known.get(job.id, (0.0, None))[0] > FRESH_S]
        await asyncio.gather(*map(self._read, stale[:MOST_AT_ONCE]))
        self._known = {job: known for job, known in self._known.items() if job in self._engine.state.jobs}

    async def _read(self, job: Job) -> None:
        booking = holds_booking(job.status)
        if booking is None:
            return
        ask = self._engine.fleet.ask
        question = {"path": stdout_path(self._engine.state_folder, job, job.attempt)}
        try:
            end = await ask(booking.node, {"type": "read_log", **question, "offset": 0, "limit": 0})
            start = max(0, end.get("size", 0) - TAIL_BYTES)
            tail = await ask(booking.node, {"type": "read_log", **question, "offset": start, "limit": TAIL_BYTES})
        except Unavailable:
            return
        self._known[job.id] = (monotonic(), read_progress(base64.b64decode(tail.get("data", ""))))
