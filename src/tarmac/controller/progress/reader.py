"""Reads the progress of running jobs from the end of their logs, when asked to and at most once a second per job.

A request waits for a moment only. A reading that takes longer, because a disk or an agent hangs, continues in the
background, and later requests do not wait for it again.
"""

from __future__ import annotations

import asyncio
import base64
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.log_paths import stderr_path, stdout_path
from tarmac.controller.progress.parser import TAIL_BYTES, Progress, read_progress
from tarmac.controller.progress.track import new_track
from tarmac.core.handlers.attempts.progress import FARTHEST_S
from tarmac.core.model.status import Running, Stopping
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.progress.track import Track
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet

FRESH_S = 1.0
PATIENCE_S = 0.3
MOST_AT_ONCE = 200  # a longer list does not wait for the rest


class Attempt(NamedTuple):
    """What was read of one attempt says nothing about the next."""

    job: JobId
    number: int


class ProgressReader:
    def __init__(self, engine: Engine, fleet: Fleet, state_folder: Path) -> None:
        self._engine = engine
        self._fleet = fleet
        self._state_folder = state_folder
        self.read_at = 0.0  # when the newest reading came in
        self._known: dict[Attempt, Track] = {}
        self._under_way: dict[Attempt, asyncio.Task[None]] = {}

    def get(self, job: Job) -> Progress | None:
        """The progress of its latest attempt, as last read. None once it has ended: the reading is older than that."""
        known = self._known.get(attempt_of(job)) if isinstance(job.status, Running | Stopping) else None
        return None if known is None else known.progress

    def ends(self) -> dict[JobId, float]:
        """When jobs end by their own progress. An end that is very far is left out."""
        now = self._engine.now()
        left_s = {
            one.job: known.left_s(self._run_clock(one)) for one, known in self._known.items() if self._is_latest(one)
        }
        return {job: now + left for job, left in left_s.items() if left is not None and left <= FARTHEST_S}

    async def refresh(self, jobs: Iterable[Job], within_s: float | None = None) -> None:
        """Read logs again. Returns when all are read, or after a moment: what takes longer is read all the same."""
        stale_before = monotonic() - FRESH_S
        stale = [
            (job, job.status.booking.node)  # taken now: the job may end before its log is read
            for job in jobs
            if isinstance(job.status, Running | Stopping) and self._is_stale(job, stale_before)
        ]
        begun = [self._begin(job, node) for job, node in stale[:MOST_AT_ONCE]]
        if begun:
            await asyncio.wait(begun, timeout=PATIENCE_S if within_s is None else within_s)
        self._known = {attempt: known for attempt, known in self._known.items() if self._is_latest(attempt)}

    def _is_latest(self, attempt: Attempt) -> bool:
        job = self._engine.state.jobs.get(attempt.job)
        return job is not None and job.attempt == attempt.number

    def _is_stale(self, job: Job, before: float) -> bool:
        attempt = attempt_of(job)
        known = self._known.get(attempt)
        return attempt not in self._under_way and (known is None or known.read_at < before)

    def _begin(self, job: Job, node: NodeName) -> asyncio.Task[None]:
        attempt = attempt_of(job)
        task = self._under_way[attempt] = asyncio.create_task(self._read(job, attempt, node))
        task.add_done_callback(lambda _: self._under_way.pop(attempt))
        return task

    async def _read(self, job: Job, attempt: Attempt, node: NodeName) -> None:
        has_older_output = _has_older_output(job)
        paths = (find(self._state_folder, job, attempt.number) for find in (stdout_path, stderr_path))
        try:
            for path in dict.fromkeys(paths):
                progress = await self._read_file(path, node)
                if progress is not None:
                    break
        except Refused:
            return
        self.read_at = monotonic()
        known = self._known.get(attempt)
        if known is None:
            known = self._known[attempt] = new_track(
                progress, self._run_clock(attempt), has_older_output=has_older_output
            )
        else:
            known.note(progress, self._run_clock(attempt))
        known.read_at = self.read_at

    def _run_clock(self, attempt: Attempt) -> float:
        """A clock that stands still while the job is paused."""
        job = self._engine.state.jobs.get(attempt.job)
        status = None if job is None else job.status
        return monotonic() - (status.paused_until(self._engine.now()) if isinstance(status, Running) else 0.0)

    async def _read_file(self, path: str, node: NodeName) -> Progress | None:
        tail = await self._fleet.ask(
            node, {"type": "read_log", "path": path, "offset": -TAIL_BYTES, "limit": TAIL_BYTES}
        )
        return read_progress(base64.b64decode(tail.get("data", "")))


def _has_older_output(job: Job) -> bool:
    """May its file begin with the output of another attempt?"""
    return (job.spec.stdout or job.spec.stderr) is not None and (job.attempt > 1 or job.spec.append)


def attempt_of(job: Job) -> Attempt:
    return Attempt(job.id, job.attempt)
