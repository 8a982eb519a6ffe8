"""Notifications as the controller has them: what each decision adds to the outbox, and the sending of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from tarmac.controller.notify.idle_gpus import IdleGpus
from tarmac.controller.notify.job_events import notifications
from tarmac.controller.notify.last_line import LastLines
from tarmac.controller.notify.outbox import Outbox
from tarmac.controller.notify.sender import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.notify.send_process import Problem
    from tarmac.controller.notify.targets import Targets
    from tarmac.core.changes import Changes
    from tarmac.core.commands import Command
    from tarmac.core.model.job import Job
    from tarmac.core.state import State
    from tarmac.nodes.fleet import Fleet
    from tarmac.store.outbox import Notification, OutboxReader, Waiting

MOST_IN_FULL = 3  # events of one message that are told with the last line of the output


class Words(Protocol):
    """Forms messages: sentences are the API's business."""

    def message(self, waiting: Sequence[Waiting], last_lines: Mapping[str, str]) -> Message: ...

    def test_message(self, target: str, by: str) -> Message: ...


class Notifications:
    def __init__(self, targets: Targets, words: Words) -> None:
        self.targets = targets
        self._words = words
        self._subscriptions = targets.subscriptions()
        self._engine: Engine | None = None
        self._outbox: Outbox | None = None
        self._last_lines: LastLines | None = None
        self.reader: OutboxReader | None = None

    def begin(
        self,
        engine: Engine,
        reader: OutboxReader,
        fleet: Fleet,
        state_folder: Path,
        find: Callable[[int], Job | None],
    ) -> None:
        """Send what is in the outbox, and what comes. The engine exists by now."""
        self._engine, self.reader = engine, reader
        self._last_lines = LastLines(fleet, state_folder, find)
        self._outbox = Outbox(engine, reader, self.targets, state_folder, self._composed)
        self._idle_gpus = IdleGpus(engine, self._subscriptions)
        asyncio.get_running_loop().call_soon(self._outbox.look)

    # The engine's side

    def of_decision(
        self, changes: Changes, commands: Sequence[Command], state: State, now: float
    ) -> list[Notification]:
        """What is committed with this decision."""
        if self._engine is None:
            return []
        due_at = now + self._engine.settings.in_force.notify_digest_s
        return notifications(changes, commands, state, self._subscriptions, now, due_at)

    def committed(self, added: Sequence[Notification]) -> None:
        if self._outbox is not None:
            self._outbox.added(min(one.due_at for one in added))

    # Sending

    async def _composed(self, waiting: Sequence[Waiting]) -> Message:
        lines: dict[str, str] = {}
        if len(waiting) <= MOST_IN_FULL and self._last_lines is not None:
            found = await asyncio.gather(*(self._last_lines.of(one) for one in waiting))
            lines = {one.token: line for one, line in zip(waiting, found, strict=True) if line is not None}
        return self._words.message(waiting, lines)

    async def test(self, owner: str, target: str, by: str) -> Problem | None:
        """Send a message to this target at once. None if it was accepted."""
        assert self._outbox is not None
        (name,) = self.targets.check(owner, [target])
        url = self.targets.url(owner, name)
        assert url is not None
        return await self._outbox.sender.send(url, self._words.test_message(target, by))

    async def end(self) -> None:
        if self._outbox is not None:
            await self._outbox.end()

    def kill(self) -> None:
        """End the process that sends, whatever it does."""
        if self._outbox is not None:
            self._outbox.sender.kill()
