"""Removes the oldest ended jobs by the settings `history_limit` and `history_keep_s`, a moment after a commit."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from tarmac.refusal import Refused
from tarmac.store.database.database import connect_reader
from tarmac.store.history.removal import CleanFilter, ended_count

if TYPE_CHECKING:
    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.history.cleaning import Cleaner
    from tarmac.store.store import Store

log = logging.getLogger(__name__)

DELAY_S = 1.0
REST_S = 10.0  # between two looks
AGES_S = 3600.0  # jobs grow old without a commit
AT_ONCE = 5000
SLACK = 100  # a hundredth of the limit, so that a long history is not sorted for every job that ends


class Aged(NamedTuple):
    """The last look for jobs that are too old, which reads every ended job."""

    keep_s: float
    at: float


class Upkeep:
    def __init__(self, engine: Engine, store: Store, cleaner: Cleaner) -> None:
        self._engine = engine
        self._store = store
        self._cleaner = cleaner
        self._wakeup: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._hourly: asyncio.TimerHandle | None = None
        self._aged = Aged(0.0, 0.0)
        engine.after_commit.append(self.look_soon)
        self.look_soon()

    def look_soon(self) -> None:
        settings = self._engine.settings.in_force
        if (settings.history_limit or settings.history_keep_s) and self._wakeup is None and self._task is None:
            self._wakeup = asyncio.get_running_loop().call_later(DELAY_S, self._begin)

    def end(self) -> None:
        for timer in (self._wakeup, self._hourly):
            if timer is not None:
                timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _begin(self) -> None:
        self._wakeup = None
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._clean()
        except Refused as refused:
            log.warning("old jobs are not removed: %s", refused)
        except (sqlite3.Error, OSError) as error:
            log.warning("old jobs are not removed: %s", error)
        except Exception:
            log.exception("old jobs are not removed")  # the next look tries again
        await asyncio.sleep(REST_S)
        self._task = None
        if self._hourly is not None:
            self._hourly.cancel()
        self._hourly = asyncio.get_running_loop().call_later(AGES_S, self.look_soon)

    async def _clean(self) -> None:
        settings = self._engine.settings.in_force
        keep_s, now = settings.history_keep_s, self._engine.now()
        if keep_s and not (keep_s == self._aged.keep_s and 0 <= now - self._aged.at < AGES_S):
            await self._remove(CleanFilter(before=now - keep_s), keep=0)
            self._aged = Aged(keep_s, now)
        if settings.history_limit:
            ended = await asyncio.to_thread(self._count)
            if ended > settings.history_limit + settings.history_limit // SLACK:
                await self._remove(CleanFilter(), keep=settings.history_limit)

    async def _remove(self, wanted: CleanFilter, *, keep: int) -> None:
        limited = await self._cleaner.limited(wanted, keep)
        removed, after = 0, 0
        while True:
            done = await self._cleaner.clean(limited, after=after, limit=AT_ONCE)
            removed += done.removed
            if done.last is None:
                break
            after = done.last
        if removed:
            log.info("removed %d old jobs", removed)

    def _count(self) -> int:
        with closing(connect_reader(self._store.path)) as connection:
            return ended_count(connection)
