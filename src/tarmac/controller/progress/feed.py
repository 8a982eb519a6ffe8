"""Tells the core when running jobs end by their own progress, while other jobs wait.

Plans depend on these ends only if a job waits and the running one has no time limit. Without both, no log is read, so
an idle machine stays asleep. The work of a round is bounded however many jobs run: a log is read again after a part
of the time that the job still needs, and the core is told only what changes a plan notably.
"""

from __future__ import annotations

import asyncio
import logging
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from tarmac.controller.progress.reader import attempt_of
from tarmac.core.events import ProgressSeen
from tarmac.core.model.plan import EndByProgress
from tarmac.core.model.status import is_working

if TYPE_CHECKING:
    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.progress.reader import Attempt, ProgressReader
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

log = logging.getLogger(__name__)

FIRST_ROUND_S = 1.0  # most jobs that are submitted to free GPUs no longer wait by then
ROUND_S = 30.0
MOST_PER_ROUND = 50  # logs
READ_WITHIN_S = 5.0  # what takes longer is reported in the next round
AGAIN_AFTER_PART = 0.1  # of the time that is left, or that has passed where nothing is known
AGAIN_AFTER_MOST_S = 600.0
NOTABLE_PART = 0.1  # of the time that is left
NOTABLE_S = 60.0


class ProgressFeed:
    def __init__(self, engine: Engine, reader: ProgressReader) -> None:
        self._engine = engine
        self._reader = reader
        self._asked_at: dict[Attempt, float] = {}  # also where no answer came, so that others get their turn
        self._timer: asyncio.TimerHandle | None = None
        self._round: asyncio.Task[None] | None = None
        engine.after_commit.append(self.begin_soon)
        self.begin_soon()  # jobs may wait since before the restart

    def begin_soon(self) -> None:
        """Called after every commit: it may have made a job wait."""
        if self._timer is None and self._round is None and self._engine.state.queue.classes:
            self._begin_after(FIRST_ROUND_S)

    def _begin_after(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._round = asyncio.get_running_loop().create_task(self._look())
        self._round.add_done_callback(self._end)

    def _end(self, ended: asyncio.Task[None]) -> None:
        self._round = None
        if ended.cancelled():  # the controller ends
            return
        if (error := ended.exception()) is not None:
            log.error("the progress of jobs cannot be read", exc_info=error)
        if self._engine.state.queue.classes:
            self._begin_after(ROUND_S)

    async def _look(self) -> None:
        due = self._due()
        if due:
            await self._reader.refresh(due, READ_WITHIN_S)
        self._tell()

    def _due(self) -> list[Job]:
        """The jobs whose logs are to be read in this round; those that were read longest ago come first."""
        at, now, jobs = monotonic(), self._engine.now(), consulted(self._engine.state)
        attempts = [attempt_of(job) for job in jobs]
        self._asked_at = {one: self._asked_at[one] for one in attempts if one in self._asked_at}
        last = {job.id: self._asked_at.get(one, -inf) for job, one in zip(jobs, attempts, strict=True)}
        due = [job for job in jobs if at >= last[job.id] + self._again_after_s(job, now)]
        due = sorted(due, key=lambda job: last[job.id])[:MOST_PER_ROUND]
        self._asked_at.update((attempt_of(job), at) for job in due)
        return due

    def _again_after_s(self, job: Job, now: float) -> float:
        runtimes = self._engine.state.runtimes
        end = runtimes.ends_by_progress.get(job.id)
        span_s = runtimes.elapsed_s(job, now) or 0.0 if end is None or end <= now else end - now
        return min(AGAIN_AFTER_PART * span_s, AGAIN_AFTER_MOST_S)

    def _tell(self) -> None:
        """Compare with what the core knows now: it forgets when an attempt ends, and when it is loaded again."""
        state, now, ends = self._engine.state, self._engine.now(), self._reader.ends()
        known = state.runtimes.ends_by_progress
        seen = [EndByProgress(job.id, job.attempt, ends.get(job.id)) for job in consulted(state)]
        notable = tuple(one for one in seen if is_notable(known.get(one.job), one.at, now))
        if notable:
            self._engine.post(ProgressSeen(ends=notable))


def consulted(state: State) -> list[Job]:
    """The running jobs whose progress decisions depend on, if any do."""
    if not state.queue.classes or state.mode.is_paused:
        return []
    hosted = state.booked_jobs(are_connected=True)
    return [job for job in hosted if job.spec.time_limit_s is None and is_working(job.status) and _takes(job)]


def _takes(job: Job) -> bool:
    """Does it hold anything that another job may wait for with a planned start?"""
    request = job.spec.request
    return bool(request.gpus or request.cpus or request.memory_bytes)


def is_notable(known: float | None, seen: float | None, now: float) -> bool:
    """Does the end differ enough from the known one to plan again?"""
    if seen is not None and seen <= now:
        seen = None
    if known is None or seen is None or known <= now:
        return known != seen
    return abs(seen - known) > max(NOTABLE_S, NOTABLE_PART * (known - now))
