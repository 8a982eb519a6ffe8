"""Sends what is in the outbox: to each URL one message at a time, with all events that wait. Tries again later.

The outbox itself is a table of the database. It is looked at when something is due, so that thousands of notifications
that cannot be sent cost nothing in between.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tarmac.controller.engine.decision import Decision
from tarmac.controller.notify.send_process import LONGEST_ERROR, Problem
from tarmac.controller.notify.sender import Sender
from tarmac.store.outbox import KEEP_FAILED_S, Delayed, OutboxChanges

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.notify.sender import Message
    from tarmac.controller.notify.targets import Targets
    from tarmac.store.outbox import OutboxReader, TargetQueue, Waiting

log = logging.getLogger(__name__)

MOST_AT_ONCE = 8  # targets
MOST_IN_MESSAGE = 10_000  # events; more make another message
DAY_S = 86400.0
GIVE_UP_AFTER_S = DAY_S
LONGEST_PAUSE_S = 3600.0
LAST_WORDS_S = 1.0  # at the end, for messages under way


class Recipient(NamedTuple):
    """Targets with the same URL, of whichever users: they get one message together."""

    key: str  # the URL; of a target that the config file does not have, its owner and name
    url: str | None
    queues: list[TargetQueue]

    @property
    def name(self) -> str:
        return self.queues[0].target

    @property
    def has_failed(self) -> bool:
        return any(queue.tries for queue in self.queues)

    @property
    def due_at(self) -> float:
        """After a failure, when the pause is over."""
        return min(queue.due_at for queue in self.queues if queue.tries or not self.has_failed)

    def is_due(self, now: float) -> bool:
        """Also if the clock was set back: nothing waits for days."""
        return self.due_at <= now or self.due_at > now + DAY_S


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
        self._under_way: dict[str, asyncio.Task[None]] = {}  # by the key of the recipient
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
        now, queues = self._engine.now(), self._reader.targets()
        free = [one for one in self._recipients(queues) if one.key not in self._under_way]
        due = [one for one in free if one.is_due(now) or (self._is_first and one.has_failed)]
        self._is_first = False
        for one in sorted(due, key=_due_time)[: max(0, MOST_AT_ONCE - len(self._under_way))]:
            self._begin(one)
        later = [one.due_at for one in free if one.key not in self._under_way]
        is_full = len(self._under_way) >= MOST_AT_ONCE  # the end of one looks again
        self._set_timer(min([*([] if is_full else later), *self._forget_old(queues, now)], default=None))

    def _forget_old(self, queues: list[TargetQueue], now: float) -> list[float]:
        """Delete what was given up a week ago. Returns when the next ones are that old."""
        given_up = [queue.given_up_at for queue in queues if queue.given_up_at is not None]
        if any(at < now - KEEP_FAILED_S for at in given_up):
            self._engine.put(Decision(answer=None, outbox=OutboxChanges(given_up_before=now - KEEP_FAILED_S)))
            return [now + LONGEST_PAUSE_S]
        return [at + KEEP_FAILED_S for at in given_up]

    def _recipients(self, queues: list[TargetQueue]) -> list[Recipient]:
        found: dict[str, Recipient] = {}
        for queue in queues:
            if queue.waiting:
                url = self.targets.url(queue.owner, queue.target)
                key = url or f"{queue.owner} {queue.target}"
                found.setdefault(key, Recipient(key, url, [])).queues.append(queue)
        return list(found.values())

    def _set_timer(self, due_at: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due_at = None, due_at
        if due_at is not None and not self._is_ending:
            wait_s = min(max(0.0, due_at - self._engine.now()), LONGEST_PAUSE_S)
            self._timer = asyncio.get_running_loop().call_later(wait_s, self.look)

    # Send

    def _begin(self, recipient: Recipient) -> None:
        task = asyncio.create_task(self._deliver(recipient))
        self._under_way[recipient.key] = task
        task.add_done_callback(lambda done: self._end_of(recipient, done))

    def _end_of(self, recipient: Recipient, task: asyncio.Task[None]) -> None:
        self._under_way.pop(recipient.key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a notification to %s cannot be sent", recipient.name, exc_info=error)
            self.added(self._engine.now() + self._engine.settings.in_force.notify_retry_s)
        else:
            self.look()

    async def _deliver(self, recipient: Recipient) -> None:
        url, name = recipient.url, recipient.name
        problem = Problem(kind="no_target", text=name) if url is None else await self.sender.start()
        await self._settle()
        waiting = self._waiting(recipient)
        if not waiting:
            return
        if url is not None and problem is None:
            message, waiting = await self._composed(waiting)
            if message is None:
                return
            problem = await self.sender.send(url, message, [one.token for one in waiting])
        if problem is None:
            log.info("sent %d notifications to %s", len(waiting), name)
            self._sent.update(one.token for one in waiting)
            await self._settle()
        else:
            log.warning("no notification to %s: %s %s", name, problem["kind"], problem["text"])
            await self._commit(OutboxChanges(delayed=self._delayed(waiting, problem)))

    async def _composed(self, waiting: list[Waiting]) -> tuple[Message | None, list[Waiting]]:
        """One message, and the events in it. Events that cannot be put into words do not hold up the others."""
        try:
            return await self._compose(waiting), waiting
        except Exception as error:  # noqa: BLE001 - such as an event that a newer version stored
            log.warning("an event cannot be put into words: %r", error)
        good, bad = [], []
        for one in waiting:
            try:
                await self._compose([one])
            except Exception as error:  # noqa: BLE001
                bad.append((one, Problem(kind="unreadable", text=repr(error)[:LONGEST_ERROR])))
            else:
                good.append(one)
        await self._commit(OutboxChanges(delayed=[late for one, why in bad for late in self._delayed([one], why)]))
        return await self._compose(good) if good else None, good

    def _waiting(self, recipient: Recipient) -> list[Waiting]:
        found = [
            one
            for queue in recipient.queues
            for one in self._reader.waiting(queue.owner, queue.target, MOST_IN_MESSAGE)
            if one.token not in self._sent
        ]
        return sorted(found, key=_time)[:MOST_IN_MESSAGE]

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
        """Before the controller ends: messages under way get a moment. A server that hangs does not delay the end."""
        self._is_ending = True
        self._set_timer(None)
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=LAST_WORDS_S)
        for task in self._under_way.values():
            task.cancel()
        self.sender.kill()


def _due_time(recipient: Recipient) -> float:
    return recipient.due_at


def _time(one: Waiting) -> float:
    return one.at
