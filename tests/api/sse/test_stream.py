"""A stream gets what belongs to it at once, from the moment it joins, and is dropped when it falls behind."""

import asyncio
from pathlib import Path

import pytest

from tarmac.api.sse import broadcast as rounds
from tarmac.api.sse.broadcast import Broadcast
from tarmac.api.sse.stream import EventStream
from tarmac.controller.controller import Controller
from tarmac.core.events import QueuePaused
from tests.api.asgi import with_controller
from tests.api.sse.listener import WITHIN_S, Stream, app_of, submit


async def pause(controller: Controller) -> None:
    await controller.engine.commit(QueuePaused(by="ann"))


def test_a_stream_of_some_jobs_gets_queue_events_without_waiting_for_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "PING_EVERY_S", 3600.0)  # a ping would also bring them

    async def story(controller: Controller) -> None:
        stream = Stream(app_of(controller), "jobs=7")
        await stream.until(b"event: hello")
        await pause(controller)
        await stream.until(b"event: queue")
        assert b'"paused"' in stream.text
        assert stream.text.count(b"id: ") == 1, "only a round with jobs is a resume point"
        await stream.close()

    with_controller(tmp_path, story)


def test_a_stream_that_was_made_before_the_others_left_gets_the_next_events(tmp_path: Path) -> None:
    """The backlog begins again when nobody listens."""

    async def story(controller: Controller) -> None:
        broadcast = Broadcast(controller)
        first = Stream(EventStream(broadcast, None, None))
        await first.until(b"event: hello")
        for _ in range(5):
            (job,) = await submit(controller, 1)
            await first.until(b'"id":%d,' % job)
        late = EventStream(broadcast, None, None)
        await first.close()
        second = Stream(late)
        await second.until(b"event: hello")
        (job,) = await submit(controller, 1)
        await second.until(b'"id":%d,' % job)
        assert b'"id":%d,' % job not in first.text
        await second.close()

    with_controller(tmp_path, story)


def test_a_stream_whose_send_returns_after_its_place_is_gone_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may continue before the cut-off that is scheduled for it."""
    monkeypatch.setattr("tarmac.api.sse.backlog.BACKLOG_BYTES", 0)

    async def story(controller: Controller) -> None:
        broadcast = Broadcast(controller)
        other = Stream(EventStream(broadcast, None, None))
        await other.until(b"event: hello")
        behind = EventStream(broadcast, None, None)
        monkeypatch.setattr(behind, "drop", lambda: None)  # the cut-off comes too late
        slow = Stream(behind)
        await slow.until(b"event: hello")
        slow.is_reading.clear()
        for _ in range(5):
            (job,) = await submit(controller, 1)
            await other.until(b'"id":%d,' % job)
        slow.is_reading.set()
        async with asyncio.timeout(WITHIN_S):
            await slow.task
        assert slow.is_dropped
        await other.close()

    with_controller(tmp_path, story)
