"""Reads the progress of running jobs from the end of their logs, on demand and at most once a second per job.

A request waits for a moment only. A reading that takes longer, because a disk or an agent hangs, continues in the
background, and later requests do not wait for it again.
"""

from __future__ import annotations

import asyncio
import base64
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.log_paths import stdout_path
from tarmac.controller.progress.parser import TAIL_BYTES, Progress, read_progress
from tarmac.core.model.status import Running, Stopping
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tarmac.controller.engine import Engine
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet

FRESH_S = 1.0
PATIENCE_S = 0.3
MOST_AT_ONCE = 200  # a longer list does not wait for the rest


class _Attempt(NamedTuple):
    """What was read of one attempt says nothing about the next."""

    job: JobId
    number: int


class _Reading(NamedTuple):
    read_at: float
    progress: Progress | None


class ProgressReader:
    def __init__(self, engine: Engine, fleet: Fleet, state_folder: Path) -> None:
        self._engine = engine
        self._fleet = fleet
        self._state_folder = state_folder
        self.read_at = 0.0  # when the newest reading came in
        self._known: dict[_Attempt, _Reading] = {}
        self._under_way: dict[_Attempt, asyncio.Task[None]] = {}

    def get(self, job: Job) -> Progress | None:
        """The progress of its latest attempt, as last read."""
        known = self._known.get(_attempt_of(job))
        return None if known is None else known.progress

    def ends(self) -> dict[JobId, float]:
        """When jobs end by their own progress."""
        now, at = self._engine.now(), monotonic()
        return {
            attempt.job: now + known.progress.eta_s - (at - known.read_at)
            for attempt, known in self._known.items()
            if self._is_latest(attempt)
            and known.progress is not None
            and known.progress.eta_s is not None
            and known.progress.fraction > 0
        }

    async def refresh(self, jobs: Iterable[Job]) -> None:
        stale_before = monotonic() - FRESH_S
        stale = [
            (job, job.status.booking.node)  # taken now: the job may end before its log is read
            for job in jobs
            if isinstance(job.status, Running | Stopping) and self._is_stale(job, stale_before)
        ]
        begun = [self._begin(job, node) for job, node in stale[:MOST_AT_ONCE]]
        if begun:
            await asyncio.wait(begun, timeout=PATIENCE_S)
        self._known = {attempt: known for attempt, known in self._known.items() if self._is_latest(attempt)}

    def _is_latest(self, attempt: _Attempt) -> bool:
        job = self._engine.state.jobs.get(attempt.job)
        return job is not None and job.attempt == attempt.number

    def _is_stale(self, job: Job, before: float) -> bool:
        attempt = _attempt_of(job)
        known = self._known.get(attempt)
        return attempt not in self._under_way and (known is None or known.read_at < before)

    def _begin(self, job: Job, node: NodeName) -> asyncio.Task[None]:
        attempt = _attempt_of(job)
        path = stdout_path(self._state_folder, job, job.attempt)
        task = self._under_way[attempt] = asyncio.create_task(self._read(attempt, path, node))
        task.add_done_callback(lambda _: self._under_way.pop(attempt))
        return task

    async def _read(self, attempt: _Attempt, path: str, node: NodeName) -> None:
        try:
            tail = await self._fleet.ask(
                node, {"type": "read_log", "path": path, "offset": -TAIL_BYTES, "limit": TAIL_BYTES}
            )
        except Refused:
            return
        self.read_at = monotonic()
        self._known[attempt] = _Reading(self.read_at, read_progress(base64.b64decode(tail.get("data", ""))))


def _attempt_of(job: Job) -> _Attempt:
    return _Attempt(job.id, job.attempt)
