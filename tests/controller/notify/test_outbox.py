"""When the outbox sends: pauses after failures, giving up, clocks that are set, and many targets at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.controller.notify import outbox as room
from tarmac.controller.notify.outbox import Outbox
from tarmac.controller.notify.send_process import Problem
from tarmac.controller.notify.sender import Message
from tarmac.controller.notify.targets import Preferences, Targets
from tarmac.core.changes import Changes
from tarmac.store.batch import Batch
from tarmac.store.outbox import Notification, OutboxChanges, Waiting
from tarmac.store.store import Store
from tests.store.kept import commit, opened

FAILED: Problem = {"kind": "failed", "text": "500"}
URLS = {"mail": "json://mail", "chat": "json://chat", "same": "json://mail"}


class Engine:
    """Commits at once, and has a clock that the test sets."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.time = 1000.0
        self.degraded: Exception | None = None
        self.after_recovery: list[Callable[[], None]] = []
        self.settings = SimpleNamespace(in_force=SimpleNamespace(notify_retry_s=30.0))

    def now(self) -> float:
        return self.time

    async def decide(self, plan: Callable[[Any], Any]) -> None:
        if self.degraded is not None:
            raise self.degraded
        commit(self.store, Batch(changes=Changes(), outbox=plan(None).outbox))

    def put(self, decision: Any) -> None:
        commit(self.store, Batch(changes=Changes(), outbox=decision.outbox))

    def add(self, target: str = "mail", owner: str = "", at: float | None = None, event: str = "end") -> None:
        one = Notification(
            owner=owner, target=target, at=at or self.time, event=event, job=7, detail={}, due_at=self.time
        )
        commit(self.store, Batch(changes=Changes(), outbox=OutboxChanges(added=[one])))


class Sender:
    def __init__(self) -> None:
        self.problem: Problem | None = None
        self.sent: list[tuple[str, int]] = []  # URL and number of events
        self.forgotten: list[str] = []
        self.gate: asyncio.Event | None = None

    async def start(self) -> Problem | None:
        return None

    async def send(self, url: str, _: Message, tokens: Sequence[str]) -> Problem | None:
        if self.gate is not None:
            await self.gate.wait()
        self.sent.append((url, len(tokens)))
        return self.problem

    def forget(self, tokens: Sequence[str]) -> None:
        self.forgotten += tokens

    def kill(self) -> None:
        pass


async def compose(events: Sequence[Waiting]) -> Message:
    if any(one.event == "of a newer version" for one in events):
        raise KeyError("state")
    return Message("title", "body", "info")


def sending(path: Path, act: Callable[[Outbox, Engine, Sender], Awaitable[None]], urls: dict[str, str] = URLS) -> None:
    async def run() -> None:
        with opened(path) as store:
            engine, sender = Engine(store), Sender()
            targets = Targets(everyone=Preferences(targets=urls))
            box = Outbox(engine, store.reader.outbox, targets, path.parent, compose)  # type: ignore[arg-type]
            box.sender = sender  # type: ignore[assignment]
            await act(box, engine, sender)
            await box.end()

    asyncio.run(run())


async def looked(box: Outbox) -> None:
    """Everything that is due was tried."""
    box.look()
    while box._under_way:
        await asyncio.wait(list(box._under_way.values()))
        await asyncio.sleep(0)


def test_pauses_after_failures_grow_up_to_an_hour(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        sender.problem = FAILED
        engine.add()
        pauses = []
        for _ in range(10):
            await looked(box)
            (queue,) = box._reader.targets()
            pauses.append(queue.due_at - engine.time)
            engine.time = queue.due_at - 0.001
            before = len(sender.sent)
            await looked(box)
            assert len(sender.sent) == before  # not yet
            engine.time = queue.due_at
        assert pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]

    sending(path, act)


def test_new_events_do_not_shorten_the_pause_and_go_along(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        sender.problem = FAILED
        engine.add()
        await looked(box)
        engine.time += 5
        engine.add()
        await looked(box)
        assert len(sender.sent) == 1
        engine.time += 25
        sender.problem = None
        await looked(box)
        assert sender.sent[-1] == ("json://mail", 2)
        assert box._reader.targets() == []
        assert len(sender.forgotten) == 2

    sending(path, act)


def test_after_a_day_it_is_given_up_and_counts_as_failed(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        sender.problem = FAILED
        engine.add()
        await looked(box)
        engine.time += 90_000
        await looked(box)
        (queue,) = box._reader.targets()
        assert (queue.waiting, queue.failed) == (0, 1)
        engine.time += 90_000
        await looked(box)
        assert len(sender.sent) == 2

    sending(path, act)


def test_what_was_given_up_is_forgotten_after_a_week_also_if_nothing_else_happens(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        sender.problem = FAILED
        engine.add("gone")  # the config file no longer has it
        for _ in range(2):
            await looked(box)
            engine.time += 90_000
        engine.time += 6 * 86400
        await looked(box)
        assert box._reader.targets() == []

    sending(path, act)


def test_an_event_without_words_holds_up_no_other_and_is_given_up(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        engine.add(event="of a newer version")
        engine.add()
        engine.add("chat")
        await looked(box)
        assert sorted(sender.sent) == [("json://chat", 1), ("json://mail", 1)]
        (queue,) = box._reader.targets()
        assert (queue.waiting, queue.failed, queue.tries) == (1, 0, 1)
        assert queue.error is not None
        assert "unreadable" in queue.error
        engine.add()
        engine.time += 90_000
        await looked(box)
        assert sender.sent[-1] == ("json://mail", 1)
        (queue,) = box._reader.targets()
        assert (queue.waiting, queue.failed) == (0, 1)

    sending(path, act)


def test_an_event_of_long_ago_is_tried_twice_at_least(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        sender.problem = FAILED
        engine.time = 1e6
        engine.add(at=1.0)  # Tarmac was off for days
        await looked(box)
        assert box._reader.targets()[0].waiting == 1

    sending(path, act)


def test_a_clock_that_was_set_back_delays_nothing_for_days(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        engine.time = 1e9
        engine.add()
        engine.time = 1000.0
        await looked(box)
        assert sender.sent == [("json://mail", 1)]

    sending(path, act)


def test_targets_with_one_url_get_one_message_and_others_their_own(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        engine.add("mail")
        engine.add("same", owner="ann")
        engine.add("mail", owner="bob")
        engine.add("chat")
        await looked(box)
        assert sorted(sender.sent) == [("json://chat", 1), ("json://mail", 3)]

    sending(path, act)


def test_a_target_that_is_gone_is_a_problem_of_its_own(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        engine.add("gone")
        engine.add("mail")
        await looked(box)
        assert sender.sent == [("json://mail", 1)]
        (queue,) = box._reader.targets()
        assert queue.error is not None
        assert "no_target" in queue.error

    sending(path, act)


def test_only_some_targets_are_sent_to_at_once_and_all_in_the_end(path: Path) -> None:
    urls = {f"t{number}": f"json://t{number}" for number in range(20)}

    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        sender.gate = asyncio.Event()
        for name in urls:
            engine.add(name)
        box.look()
        await asyncio.sleep(0)
        assert len(box._under_way) == room.MOST_AT_ONCE
        sender.gate.set()
        await looked(box)
        assert sorted(sender.sent) == sorted((url, 1) for url in urls.values())

    sending(path, act, urls)


def test_a_message_that_was_sent_while_nothing_could_be_written_is_not_sent_again(path: Path) -> None:
    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        engine.add()
        sender.gate = asyncio.Event()
        box.look()
        await asyncio.sleep(0)
        engine.degraded = OSError("the disk is full")
        sender.gate.set()
        await looked(box)
        assert box._reader.targets()  # it is still there
        engine.degraded = None
        engine.after_recovery[0]()
        await looked(box)
        assert sender.sent == [("json://mail", 1)]
        assert box._reader.targets() == []

    sending(path, act)


def test_a_long_queue_is_sent_in_messages_of_bounded_size(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_IN_MESSAGE", 3)

    async def act(box: Outbox, engine: Engine, sender: Sender) -> None:
        for _ in range(7):
            engine.add()
        await looked(box)
        assert [count for _, count in sender.sent] == [3, 3, 1]

    sending(path, act)
