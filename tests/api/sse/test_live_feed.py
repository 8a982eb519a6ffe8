"""Live events: changes that are not commits, for the streams that ask for them."""

import asyncio
import re
from pathlib import Path
from typing import Literal

import pytest

from tarmac.api.sse import live_events
from tarmac.api.sse.backlog import Entry
from tarmac.api.sse.live_feed import LiveFeed
from tarmac.api.wording.catalogue.dialect import current_dialect
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.controller.publisher import Removals
from tarmac.core.events import JobMoved, JobsReleased, NodesDrained, StopAsked
from tarmac.core.model.ids import JobId
from tests.api.asgi import with_controller
from tests.api.sse.listener import Stream, app_of, submit


async def remove(controller: Controller, *jobs: int) -> None:
    for job in jobs:
        await controller.engine.commit(StopAsked(job=JobId(job), by="ann", grace_s=None))
    await controller.engine.decide(lambda _: Decision(answer=None, removed=[JobId(job) for job in jobs]))


def test_a_move_tells_the_whole_line_once_for_all_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        jobs = await submit(controller, 4)
        streams, plain = [Stream(app, "live=1") for _ in range(20)], Stream(app)
        for stream in (*streams, plain):
            await stream.until(b"event: hello")
        # The first one gets the GPU.
        await controller.engine.commit(JobsReleased(jobs=tuple(map(JobId, jobs)), by="ann"))
        for stream in streams:
            await stream.until(b'"ids":"3-5"')
        counted = []
        encode = live_events.line_event
        monkeypatch.setattr(live_events, "line_event", lambda *words: (counted.append(words), encode(*words))[1])
        await controller.engine.commit(JobMoved(job=JobId(5), place=1, by="ann"))
        for stream in streams:
            await stream.until(b'"ids":"5,3-4"')
        assert len(counted) == 1
        assert b"event: line" not in plain.text
        assert b"event: nodes" not in plain.text
        for stream in (*streams, plain):
            await stream.close()

    with_controller(tmp_path, story)


def test_a_resumed_stream_learns_what_was_removed_meanwhile(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        await submit(controller, 3)
        stream = Stream(app, "live=1")
        await stream.until(b"event: hello")
        last = re.findall(rb"^id: (\d+)$", stream.text, re.MULTILINE)[-1].decode()
        await stream.close()
        await remove(controller, 2, 3)
        resumed = Stream(app, "live=1", last_event_id=last)
        await resumed.until(b'event: removed\ndata: {"ids":"2-3"}')
        await resumed.until(b"event: nodes")
        assert b"event: missed" not in resumed.text
        older = Stream(app, "live=1", last_event_id="0")
        await older.until(b"event: missed")  # what an earlier controller removed is not known
        for one in (resumed, older):
            await one.close()

    with_controller(tmp_path, story)


def test_a_removal_is_told_at_once(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        await submit(controller, 2)
        stream = Stream(app_of(controller), "live=1")
        await stream.until(b"event: hello")
        await remove(controller, 1)
        await stream.until(b'event: removed\ndata: {"ids":"1"}')
        await stream.close()

    with_controller(tmp_path, story)


def test_nothing_is_looked_at_once_no_stream_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    found = live_events.at_work
    monkeypatch.setattr(live_events, "at_work", lambda controller: (rounds.append(1), found(controller))[1])

    async def story(controller: Controller) -> None:
        app = app_of(controller)
        live, plain = Stream(app, "live=1"), Stream(app)
        await live.until(b"event: nodes")
        await live.close()
        before = len(rounds)
        await submit(controller, 1)
        await plain.until(b"event: job")
        await asyncio.sleep(1.2)  # longer than a round
        assert len(rounds) == before
        await plain.close()

    with_controller(tmp_path, story)


def test_removals_that_were_forgotten_are_not_known() -> None:
    removals = Removals(5)
    assert removals.since(5) is None
    removals.note(7, [JobId(1)])
    assert removals.since(7) == [1]
    assert removals.since(8) == []
    removals.note(9, [JobId(number) for number in range(10_000)])
    assert removals.since(7) is None
    assert removals.since(9) == list(range(10_000))


def test_a_live_round_waits_until_the_round_before_it_is_handed_out(tmp_path: Path) -> None:
    """Otherwise an older text of a job could follow a newer one."""

    class Watched(asyncio.Lock):
        def __init__(self) -> None:
            super().__init__()
            self.is_wanted = asyncio.Event()

        async def acquire(self) -> Literal[True]:
            self.is_wanted.set()
            return await super().acquire()

    async def story(controller: Controller) -> None:
        sent: list[Entry] = []
        is_sent = asyncio.Event()

        async def send(entries: list[Entry]) -> None:
            sent.extend(entries)
            is_sent.set()

        lock = Watched()
        async with lock:
            lock.is_wanted.clear()
            feed = LiveFeed(controller, lambda: [current_dialect()], send, lock)
            await lock.is_wanted.wait()
            jobs = await submit(controller, 2)
            await controller.engine.commit(JobsReleased(jobs=tuple(map(JobId, jobs)), by="ann"))
            feed.note((), jobs)
            assert not sent
        await is_sent.wait()
        texts = [text for entry in sent for text in entry.texts.values()]
        assert any(b'"ids":"3"' in text for text in texts), "it tells the order as of when it had its turn"
        feed.end()

    with_controller(tmp_path, story)


def test_a_stream_that_must_read_everything_again_is_told_no_lines(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        jobs = await submit(controller, 3)
        await controller.engine.commit(JobsReleased(jobs=tuple(map(JobId, jobs)), by="ann"))
        stream = Stream(app, "live=1", last_event_id="999999999")
        await stream.until(b"event: queue")
        (later,) = await submit(controller, 1)
        await stream.until(b'"id":%d,' % later)
        assert b"event: missed" in stream.text
        assert b"event: line" not in stream.text
        await stream.close()

    with_controller(tmp_path, story)


def test_an_event_tells_what_changed_about_nodes(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        (job,) = await submit(controller, 1)
        await controller.engine.commit(JobsReleased(jobs=(JobId(job),), by="ann"))
        stream = Stream(app_of(controller), "live=1")
        await stream.until(b"event: nodes")
        node = next(iter(controller.state.nodes))
        for by in ("ann", "bob"):
            await controller.engine.commit(NodesDrained(nodes=(node,), by=by, reason="fans"))
            await stream.until(f'"drained_by":"{by}"'.encode())
        await stream.close()

    with_controller(tmp_path, story)


def test_time_alone_is_no_change_of_a_node(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        assert live_events.nodes_mark(controller) == live_events.nodes_mark(controller)

    with_controller(tmp_path, story)
