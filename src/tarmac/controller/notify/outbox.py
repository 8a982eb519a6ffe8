"""Sends what is in the outbox: to each target one message at a time, with all events that wait. Tries again later.

The outbox itself is a table of the database. It is looked at when something is due, so that thousands of notifications
that cannot be sent cost nothing in between.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tarmac.controller.decision import Decision
from tarmac.controller.notify.send_process import Problem
from tarmac.controller.notify.sender import Sender
from tarmac.store.outbox import Delayed, OutboxChanges

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from tarmac.controller.engine import Engine
    from tarmac.controller.notify.sender import Message
    from tarmac.controller.notify.targets import Targets
    from tarmac.store.outbox import OutboxReader, TargetQueue, Waiting

log = logging.getLogger(__name__)

MOST_AT_ONCE = 8  # targets
MOST_IN_MESSAGE = 2000  # events; more make another message
DAY_S = 86400.0
GIVE_UP_AFTER_S = DAY_S
LONGEST_PAUSE_S = 3600.0
LAST_WORDS_S = 1.0  # at the end, for messages under way


class Address(NamedTuple):
    """A target and whose it is; empty for all users."""

    owner: str
    target: str


class Outbox:
    """`compose` makes one message of several events: sentences are the API's business."""

    def __init__(
        self,
        engine: Engine,
        reader: OutboxReader,
        targets: Targets,
        state_folder: Path,
        compose: Callable[[Sequence[Waiting]], Awaitable[Message]],
    ) -> None:
        self.targets = targets
        self.sender = Sender(state_folder, targets.proxy, self._sent_before)
        self._engine = engine
        self._reader = reader
        self._compose = compose
        self._timer: asyncio.TimerHandle | None = None
        self._due_at: float | None = None
        self._under_way: dict[Address, asyncio.Task[None]] = {}
        self._sent: set[str] = set()  # what is not committed yet
        self._is_first = True  # targets that failed before are tried at once: the config file may have changed
        self._is_ending = False
        engine.after_recovery.append(self.look)

    # When

    def added(self, due_at: float) -> None:
        """Something was added that is due then."""
        if self._due_at is None or due_at < self._due_at:
            self._set_timer(due_at)

    def look(self) -> None:
        """Send what is due, and wait for what is due next."""
        if self._is_ending or self._engine.degraded is not None:
            return
        now = self._engine.now()
        queues = [queue for queue in self._reader.targets() if queue.waiting]
        free = [queue for queue in queues if Address(queue.owner, queue.target) not in self._under_way]
        due = [queue for queue in free if _is_due(queue, now) or (self._is_first and queue.tries)]
        self._is_first = False
        for queue in sorted(due, key=_by_due_time)[: max(0, MOST_AT_ONCE - len(self._under_way))]:
            self._begin(queue)
        later = [queue.due_at for queue in free if Address(queue.owner, queue.target) not in self._under_way]
        is_full = len(self._under_way) >= MOST_AT_ONCE  # the end of one looks again
        self._set_timer(None if is_full else min(later, default=None))

    def _set_timer(self, due_at: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due_at = None, due_at
        if due_at is not None and not self._is_ending:
            wait_s = min(max(0.0, due_at - self._engine.now()), LONGEST_PAUSE_S)
            self._timer = asyncio.get_running_loop().call_later(wait_s, self.look)

    # Send

    def _begin(self, queue: TargetQueue) -> None:
        address = Address(queue.owner, queue.target)
        task = asyncio.create_task(self._deliver(address))
        self._under_way[address] = task
        task.add_done_callback(lambda done: self._end_of(address, done))

    def _end_of(self, address: Address, task: asyncio.Task[None]) -> None:
        self._under_way.pop(address, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a notification to %s cannot be made: %r", address.target, error)
            self._set_timer(self._engine.now() + self._engine.settings.in_force.notify_retry_s)
        else:
            self.look()

    async def _deliver(self, address: Address) -> None:
        url = self.targets.url(address.owner, address.target)
        problem = Problem(kind="no_target", text=address.target) if url is None else await self.sender.start()
        await self._settle()
        found = self._reader.waiting(address.owner, address.target, MOST_IN_MESSAGE)
        waiting = [one for one in found if one.token not in self._sent]
        if not waiting:
            return
        if url is not None and problem is None:
            message = await self._compose(waiting)
            problem = await self.sender.send(url, message, [one.token for one in waiting])
        if problem is None:
            log.info("sent %d notifications to %s", len(waiting), address.target)
            self._sent.update(one.token for one in waiting)
            await self._settle()
        else:
            log.warning("no notification to %s: %s %s", address.target, problem["kind"], problem["text"])
            await self._commit(OutboxChanges(delayed=self._delayed(waiting, problem)))

    def _delayed(self, waiting: Sequence[Waiting], problem: Problem) -> list[Delayed]:
        now = self._engine.now()
        tries = max(one.tries for one in waiting)
        pause_s = min(self._engine.settings.in_force.notify_retry_s * 2**tries, LONGEST_PAUSE_S)
        error = msgspec.json.encode(problem).decode()
        return [
            Delayed(one.token, now + pause_s, error, now if now - one.at > GIVE_UP_AFTER_S and one.tries else None)
            for one in waiting
        ]

    # What was sent

    def _sent_before(self, tokens: list[str]) -> None:
        """An earlier process has sent these. Called before anything else is sent."""
        self._sent.update(tokens)

    async def _settle(self) -> None:
        """Commit what was sent. It is remembered until that succeeds: the disk may be full."""
        sent = sorted(self._sent)
        if sent and await self._commit(OutboxChanges(sent=sent)):
            self._sent.difference_update(sent)
            self.sender.forget(sent)

    async def _commit(self, changes: OutboxChanges) -> bool:
        try:
            await self._engine.decide(lambda _: Decision(answer=None, outbox=changes))
        except Exception:  # noqa: BLE001 - the disk is full; what was sent is remembered, and the journal has it
            return False
        return True

    async def end(self) -> None:
        """Before the controller ends: messages under way get a moment. A server that hangs delays nobody."""
        self._is_ending = True
        self._set_timer(None)
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=LAST_WORDS_S)
        for task in self._under_way.values():
            task.cancel()
        self.sender.kill()


def _is_due(queue: TargetQueue, now: float) -> bool:
    """Also if the clock was set back: nothing waits for days."""
    return queue.due_at <= now or queue.due_at > now + DAY_S


def _by_due_time(queue: TargetQueue) -> float:
    return queue.due_at
