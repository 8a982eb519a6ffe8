"""Removes ended jobs: their rows, their logs in the state directory, and environments that no job uses.

Many are removed in many commits, so that others come in between. What is removed is written to `history_dump` first, if
that is set. A job that waits keeps the jobs it depends on.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING, NamedTuple

from tarmac import __version__
from tarmac.controller.engine.decision import Decision
from tarmac.controller.engine.unknown_runs import SkippedIds
from tarmac.controller.history import dump_file, log_files
from tarmac.core.model.ids import JobId
from tarmac.shared import crashpoint
from tarmac.shared.own import job_logs
from tarmac.store.database.database import connect_reader
from tarmac.store.history import records, removal
from tarmac.store.history.restored import SKIPPED_IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.history.history import History
    from tarmac.core.state import State
    from tarmac.store.history.removal import CleanFilter, Cutoff, EndedJob, Selected
    from tarmac.store.store import Store

AT_ONCE = 500  # jobs in one commit


class Preview(NamedTuple):
    selected: Selected
    log_bytes: int
    wanted: CleanFilter  # with the newest jobs that are to be kept left out


class Cleaned(NamedTuple):
    removed: int
    last: int | None  # the highest id that was looked at; None: no job is left


class Cleaner:
    def __init__(self, engine: Engine, store: Store, history: History, state_folder: Path) -> None:
        self._engine = engine
        self._store = store
        self._history = history
        self._state_folder = state_folder
        self._turn = asyncio.Lock()  # two at once would find the same jobs

    async def limited(self, wanted: CleanFilter, keep: int) -> CleanFilter:
        """Without the `keep` newest jobs."""
        return await asyncio.to_thread(self._limited, wanted, keep)

    async def preview(self, wanted: CleanFilter, keep: int) -> Preview:
        def look() -> Preview:
            limited = self._limited(wanted, keep)
            with closing(connect_reader(self._store.path)) as connection:
                found = removal.selected(connection, limited, removal.needed_by_waiting(connection))
            return Preview(found, job_logs.log_bytes(str(self._state_folder), {job.id for job in found.jobs}), limited)

        return await asyncio.to_thread(look)

    async def clean(self, wanted: CleanFilter, *, after: int, limit: int) -> Cleaned:
        """Remove the next jobs that match, at most `limit`. Call again with `last` until that is None."""
        async with self._turn:
            jobs, needed = await asyncio.to_thread(self._next, wanted, after, limit)
            removed = 0
            for start in range(0, len(jobs), AT_ONCE):
                part = [job for job in jobs[start : start + AT_ONCE] if job.id not in needed]
                removed += await self._remove(part)
        return Cleaned(removed, None if len(jobs) < limit else jobs[-1].id)

    async def finish(self) -> None:
        """After many jobs were removed on request: remove what crashes left behind, and make the file smaller."""
        await asyncio.to_thread(self._sweep)
        self._store.shrink()

    def _limited(self, wanted: CleanFilter, keep: int) -> CleanFilter:
        if not keep:
            return wanted
        with closing(connect_reader(self._store.path)) as connection:
            return _no_newer(wanted, removal.newest_kept(connection, wanted, keep))

    def _next(self, wanted: CleanFilter, after: int, limit: int) -> tuple[list[EndedJob], frozenset[int]]:
        with closing(connect_reader(self._store.path)) as connection:
            jobs = removal.some(connection, wanted, after=after, limit=limit)
            # This reads the specs of all jobs that wait.
            return jobs, removal.needed_by_waiting(connection) if jobs else frozenset()

    async def _remove(self, jobs: Sequence[EndedJob]) -> int:
        numbers = [job.id for job in jobs]
        if path := self._engine.settings.in_force.history_dump:
            await asyncio.to_thread(self._dump, path, numbers)
        gone = await self._engine.decide(self._plan(numbers))
        removed = set(gone)
        crashpoint.reach("keep:after-clean")
        self._history.removed(sorted(removed))
        await asyncio.to_thread(log_files.delete_logs, self._state_folder, [job for job in jobs if job.id in removed])
        return len(removed)

    def _plan(self, numbers: Sequence[int]) -> Callable[[State], Decision[list[JobId]]]:
        def plan(state: State) -> Decision[list[JobId]]:
            # One of them may run again since, or a new job may depend on it.
            gone: list[JobId] = [
                JobId(number)
                for number in numbers
                if number not in state.jobs and number not in state.dependents and number not in self._engine.removing
            ]
            return Decision(answer=gone, removed=gone)

        return plan

    def _dump(self, path: str, numbers: Sequence[int]) -> None:
        with records.snapshot(self._store.path) as connection:
            header = records.header(connection, at=time(), version=__version__)
            found = records.records(connection, numbers, with_environment=True)
            dump_file.append(path, header, found)

    def _sweep(self) -> None:
        """Delete logs that a crash left behind: their jobs were removed before it."""
        gone = self.removed_among(job_logs.logged_jobs(str(self._state_folder)))
        if gone:
            job_logs.delete_logs_of(str(self._state_folder), gone)

    def removed_among(self, logged: Sequence[int]) -> set[int]:
        """Those of these jobs that were removed. Reads the disk, for a thread."""
        with closing(connect_reader(self._store.path)) as connection:
            skipped = SkippedIds(removal.stored_setting(connection, SKIPPED_IDS))
            next_id = removal.next_id(connection)
            given = [number for number in logged if number < next_id and number not in skipped]
            return set(given) - removal.existing(connection, given)


def _no_newer(wanted: CleanFilter, cutoff: Cutoff | None) -> CleanFilter:
    """Without the newest jobs, which stay."""
    if cutoff is None:
        return replace(wanted, before=0.0, before_id=0)
    if wanted.before is None or (cutoff.before, cutoff.before_id) < (wanted.before, wanted.before_id or 0):
        return replace(wanted, before=cutoff.before, before_id=cutoff.before_id)
    return wanted
