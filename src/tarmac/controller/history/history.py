"""The history beside the event loop: one thread owns its index, answers searches, and follows the database.

The index follows while nothing is being committed, so that it does not slow down the ends of jobs. A search
first catches up with what ended since. While a new index is built, a search covers the newest jobs, and says so.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tarmac.refusal import unavailable
from tarmac.store.history.index import HistoryIndex
from tarmac.store.history.search import search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tarmac.core.model.note import Note
    from tarmac.store.history.search import Found, HistoryFilter, Place

    T = TypeVar("T")

log = logging.getLogger(__name__)

QUIET_S = 2.0  # without a commit
LATEST_S = 60.0  # if commits never cease
JOBS_AT_ONCE = 500  # takes some hundredths of a second; a search waits that long
SEARCH_WAITS_S = 1.0  # for the index, if much ended since
WORTH_WAITING = 5000  # jobs that it lacks; a new index takes minutes


class HistoryPage(NamedTuple):
    found: Found
    unindexed: int  # jobs that the index does not have yet


class History:
    def __init__(self, database: Path, words: Callable[[Note], str] = str) -> None:
        self._index = HistoryIndex(database, words)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="history")
        self._removed: list[int] = []  # jobs that the index may still have
        self._leaving: list[int] = []  # some of them; for the thread only
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._next_part: asyncio.TimerHandle | None = None
        self._stale_since: float | None = None
        self._committed_at = 0.0
        self._is_following = False
        self._must_end_by = 0.0  # from then on, it follows whatever is committed
        self._is_ended = False
        self.committed()  # what ended before this start may not be indexed

    async def search(self, wanted: HistoryFilter, *, after: Place | None, limit: int) -> HistoryPage:
        return await self.in_thread(lambda index: _searched(index, wanted, after, limit))

    async def in_thread(self, call: Callable[[HistoryIndex], T]) -> T:
        """Call in the thread of the index. What SQLite refuses is refused."""
        try:
            return await self._loop.run_in_executor(self._thread, call, self._index)
        except (sqlite3.Error, OSError) as error:
            log.warning("the index of the history: %s", error)
            raise unavailable("history.no_index", path=self._index.path, error=str(error)) from error

    def removed(self, jobs: Sequence[int]) -> None:
        """These jobs were removed from the database. Until the index follows, searches leave them out."""
        self._removed += jobs
        self.committed()

    def imported(self) -> None:
        """Jobs were added that ended long ago."""
        self._thread.submit(self._quietly, self._index.rebuild)
        self.committed()

    def committed(self) -> None:
        """Something was committed. Follow it later."""
        self._committed_at = monotonic()
        if self._stale_since is None:
            self._stale_since = self._committed_at
            self._wait(QUIET_S)

    def end(self) -> None:
        self._is_ended = True
        for timer in (self._timer, self._next_part):
            if timer is not None:
                timer.cancel()
        self._thread.submit(self._index.close)
        self._thread.shutdown(wait=True)

    def _wait(self, seconds: float) -> None:
        if not self._is_ended:
            self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        now = monotonic()
        quiet_s = now - self._committed_at
        if quiet_s < QUIET_S and self._stale_since is not None and now - self._stale_since < LATEST_S:
            self._wait(QUIET_S - quiet_s)
            return
        if not self._is_following:
            self._is_following = True
            self._must_end_by = (self._stale_since or now) + LATEST_S
            self._thread.submit(self._follow)
        self._stale_since = None

    def _follow(self) -> None:
        """In the thread: a part at a time, so that searches come in between."""
        self._quietly(self._forget)
        left = self._quietly(lambda: self._index.catch_up(JOBS_AT_ONCE))
        if left and not self._is_ended:
            self._loop.call_soon_threadsafe(self._follow_on)
        else:
            self._is_following = False

    def _follow_on(self) -> None:
        """The next part, once nothing is being committed: both threads would take turns in Python."""
        now = monotonic()
        quiet_s = now - self._committed_at
        if self._is_ended:
            return
        if quiet_s < QUIET_S and now < self._must_end_by:
            self._next_part = self._loop.call_later(QUIET_S - quiet_s, self._follow_on)
        else:
            self._thread.submit(self._follow)

    def _forget(self) -> None:
        """What the index refuses now is tried again."""
        removed, self._removed = self._removed, []
        self._leaving += removed
        if self._leaving:
            self._index.forget(self._leaving)
            self._leaving = []

    def _quietly(self, call: Callable[[], T]) -> T | None:
        """A search reports what is wrong with the index; the next commit tries again."""
        try:
            return call()
        except (sqlite3.Error, OSError) as error:
            log.warning("the index of the history: %s", error)
            return None


def _searched(index: HistoryIndex, wanted: HistoryFilter, after: Place | None, limit: int) -> HistoryPage:
    until = monotonic() + SEARCH_WAITS_S
    left = index.catch_up(JOBS_AT_ONCE)
    while 0 < left < WORTH_WAITING and monotonic() < until:
        left = index.catch_up(JOBS_AT_ONCE)
    return HistoryPage(search(index, wanted, after=after, limit=limit), left)
