"""Looks at the snapshot of a job that could not be checked out, so that the next submit sends what is damaged."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from tarmac.refusal import Refused
from tarmac.shared.snapshots.damage_message import says_damaged

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.snapshots.snapshots import Snapshots
    from tarmac.core.changes import Changes
    from tarmac.core.model.job import Job

log = logging.getLogger(__name__)


class DamageWatch:
    """Checks one tree at a time. A tree that fails again while it is checked is checked once more."""

    def __init__(self, engine: Engine, snapshots: Snapshots, find: Callable[[int], Job | None]) -> None:
        self._snapshots = snapshots
        self._find = find
        self._waiting: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        engine.after_attempts.append(self._attempts_ended)

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _attempts_ended(self, changes: Changes) -> None:
        for attempt in changes.attempts:
            message = attempt.message
            if attempt.reason != "launch" or not isinstance(message, str) or not says_damaged(message):
                continue  # such as a command that was not found: do not read a large snapshot for it
            job = changes.changed.get(attempt.job) or self._find(attempt.job)
            if job is not None and job.spec.snapshot is not None:
                self._waiting[job.spec.snapshot.tree] = None
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._check())

    async def _check(self) -> None:
        while self._waiting:
            tree = next(iter(self._waiting))
            del self._waiting[tree]
            try:
                dropped = await self._snapshots.drop_if_damaged(tree)
            except Refused as refused:
                log.warning("snapshot %s cannot be checked: %s", tree, refused)
                continue
            if dropped:
                log.warning("damaged snapshots, which the next submit sends again: %s", ", ".join(sorted(dropped)))
