"""Events are encoded once however many listen, and reach every stream."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.views.job import Viewer
from tarmac.controller.controller import Controller
from tarmac.core.events import JobsHeld, JobsReleased
from tarmac.core.model.ids import JobId
from tests.api.asgi import with_controller
from tests.api.sse.listener import WITHIN_S, Stream, app_of, submit


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each job was turned into a view."""
    counted: Counter[int] = Counter()
    view = Viewer.job

    def counting(self: Viewer, job: Any) -> Any:
        counted[job.id] += 1
        return view(self, job)

    monkeypatch.setattr(Viewer, "job", counting)
    return counted


def test_an_event_is_encoded_once_however_many_listen(tmp_path: Path, encoded: Counter[int]) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        streams = [Stream(app) for _ in range(100)] + [Stream(app, f"jobs={job}") for job in range(2, 22)]
        for stream in streams:
            await stream.until(b"event: hello")
        encoded.clear()
        jobs = await submit(controller, 20)
        for stream in streams[:100]:
            await stream.until(b'"id":%d,' % jobs[-1])
        for stream, job in zip(streams[100:], jobs, strict=True):
            await stream.until(b'"id":%d,' % job)
            assert stream.text.count(b"event: job") == 1
        assert encoded == Counter(jobs)
        for stream in streams:
            await stream.close()

    with_controller(tmp_path, story)


def test_each_time_zone_has_its_own_texts(tmp_path: Path, encoded: Counter[int]) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        zones = ["Europe/Berlin", "Asia/Tokyo"] * 10
        streams = [Stream(app, tarmac_zone=zone) for zone in zones]
        for stream in streams:
            await stream.until(b"event: hello")
        encoded.clear()
        (job,) = await submit(controller, 1)
        for stream in streams:
            await stream.until(b'"id":%d,' % job)
        assert encoded == Counter({job: 2})
        for stream in streams:
            await stream.close()

    with_controller(tmp_path, story)


def test_nothing_is_encoded_while_nobody_listens(tmp_path: Path, encoded: Counter[int]) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        only_ten = Stream(app, "jobs=10")
        await only_ten.until(b"event: hello")
        await submit(controller, 3)
        await controller.engine.commit(JobsReleased(jobs=(JobId(1),), by="ann"))
        await only_ten.close()
        await submit(controller, 3)
        assert not encoded

    with_controller(tmp_path, story)


def test_only_the_last_event_of_a_round_is_a_resume_point(tmp_path: Path) -> None:
    """A stream that breaks in the middle of a round gets all of it again."""

    async def story(controller: Controller) -> None:
        app = app_of(controller)
        stream = Stream(app)
        await stream.until(b"event: hello")
        jobs = await submit(controller, 300)
        await stream.until(b'"id":%d,' % jobs[-1])
        told = stream.text.split(b"\n\n")
        ids = [event for event in told if event.startswith(b"event: job\nid: ")]
        assert len(ids) == 1
        assert b'"id":%d,' % jobs[-1] in ids[0]
        await stream.close()

    with_controller(tmp_path, story)


@pytest.mark.parametrize("query", ["", "jobs=2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21"])
def test_a_stalled_stream_is_dropped_and_resumes_while_others_get_everything(
    tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarmac.api.sse.backlog.BACKLOG_BYTES", 1 << 20)

    async def story(controller: Controller) -> None:
        app = app_of(controller)
        stalled, healthy = Stream(app, query), Stream(app, query)
        for stream in (stalled, healthy):
            await stream.until(b"event: hello")
        stalled.is_reading.clear()
        jobs = await submit(controller, 20, command=("x" * 60_000,))
        await healthy.until(b'"id":%d,' % jobs[-1])
        for _ in range(3):  # until there is more than the backlog holds
            before = len(healthy.text)
            await controller.engine.commit(JobsReleased(jobs=tuple(map(JobId, jobs)), by="ann"))
            await controller.engine.commit(JobsHeld(jobs=tuple(map(JobId, jobs)), by="ann"))
            await healthy.until_longer_than(before + 19 * 60_000)  # one of them starts, and cannot be held
        async with asyncio.timeout(WITHIN_S):
            await stalled.task
        assert stalled.is_dropped
        assert not healthy.is_dropped
        seen = stalled.text.rpartition(b"\nid: ")[2].partition(b"\n")[0].decode()
        resumed = Stream(app, query, last_event_id=seen)
        for job in jobs:
            await resumed.until(b'data: {"id":%d,' % job)
        assert b"event: missed" not in resumed.text
        for stream in (healthy, resumed):
            await stream.close()

    with_controller(tmp_path, story)


@pytest.mark.parametrize("after", ["999999999", str(2**63 - 1)])
def test_a_resume_point_of_another_database_is_answered_with_missed(tmp_path: Path, after: str) -> None:
    async def story(controller: Controller) -> None:
        stream = Stream(app_of(controller), last_event_id=after)
        await stream.until(b"event: queue")
        assert b"event: missed\nid: %d\n" % controller.publisher.last_event in stream.text
        await stream.close()

    with_controller(tmp_path, story)


def test_more_changes_than_are_replayed_are_answered_with_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarmac.api.sse.stream.MOST_REPLAYED", 5)

    async def story(controller: Controller) -> None:
        app = app_of(controller)
        start = controller.publisher.last_event
        await submit(controller, 5)
        few = Stream(app, last_event_id=str(start))
        await few.until(b"event: queue")
        assert few.text.count(b"event: job") == 5
        await submit(controller, 1)
        many = Stream(app, last_event_id=str(start))
        await many.until(b"event: queue")
        assert (many.text.count(b"event: job"), many.text.count(b"event: missed")) == (0, 1)
        for stream in (few, many):
            await stream.close()

    with_controller(tmp_path, story)


def test_a_resumed_stream_keeps_its_resume_point_until_it_has_caught_up(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        await submit(controller, 5)
        stream = Stream(app_of(controller), last_event_id="1")
        await stream.until(b"event: queue")
        assert stream.text.startswith(b"event: hello\nid: 1\n")
        assert b'data: {"last_event":%d}' % controller.publisher.last_event in stream.text
        await stream.close()

    with_controller(tmp_path, story)


def test_a_stalled_stream_does_not_delay_the_end_of_the_controller(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        app = app_of(controller)
        stalled, healthy = Stream(app), Stream(app)
        for stream in (stalled, healthy):
            await stream.until(b"event: hello")
        stalled.is_reading.clear()
        (job,) = await submit(controller, 1)
        await healthy.until(b'"id":%d,' % job)
        controller.end()
        async with asyncio.timeout(WITHIN_S):
            await asyncio.gather(healthy.task, stalled.task)
        assert stalled.is_dropped

    with_controller(tmp_path, story)
