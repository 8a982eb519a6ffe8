"""The event stream (SSE): changes of jobs, GPUs and the queue. Last-Event-ID resumes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.responses import StreamingResponse

from tarmac.api.deps import Context
from tarmac.api.schemas.events import EventsQuery
from tarmac.api.views.gpu import gpu_views
from tarmac.api.views.job import Viewer
from tarmac.api.views.queue import queue_view
from tarmac.controller.controller import Controller
from tarmac.controller.publisher import GpusChanged, JobChanged, Missed, QueueChanged
from tarmac.core.model.ids import JobId, NodeName
from tarmac.refusal import invalid
from tarmac.shared.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from tarmac.controller.publisher import Notice

PING_EVERY_S = 15.0
MOST_REPLAYED = 10_000


async def events(context: Context, query: EventsQuery) -> StreamingResponse:
    """`job`, `gpu` and `queue` events carry the whole object as data. After `missed`, list everything again."""
    wanted = None if query.jobs is None else _numbers(query.jobs)
    news = _news(context.controller, wanted, _resume_point(context.headers.get("last-event-id")))
    return StreamingResponse(news, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


def _numbers(words: str) -> frozenset[int]:
    numbers = [whole_number(word) for word in words.split(",")]
    if None in numbers:
        raise invalid("events.not_ids", words=words)
    return frozenset(number for number in numbers if number is not None)


def _resume_point(text: str | None) -> int | None:
    if text is None:
        return None
    event = whole_number(text)
    if event is None:
        raise invalid("events.not_an_event", value=text)
    return event


async def _news(controller: Controller, wanted: frozenset[int] | None, after: int | None) -> AsyncIterator[bytes]:
    listener = controller.publisher.listen()
    try:
        yield _line("hello", {"last_event": controller.publisher.last_event}, controller.publisher.last_event)
        if after is not None:
            missed = controller.store.reader.jobs_changed_after(after, MOST_REPLAYED)
            for line in _lines(controller, wanted, [JobChanged(JobId(job), event) for event, job in missed]):
                yield line
        while not controller.is_ending:
            notices = await listener.take(PING_EVERY_S)
            if notices:
                yield b"".join(_lines(controller, wanted, notices))
            elif not controller.is_ending:
                yield _line("ping", {}, None)
    finally:
        controller.publisher.unlisten(listener)


def _lines(controller: Controller, wanted: frozenset[int] | None, notices: Iterable[Notice]) -> Iterable[bytes]:
    """Several changes of one job since the last look become one event: the job as it is now."""
    viewer = Viewer(controller)
    for notice in dict.fromkeys(notices):
        match notice:
            case JobChanged(job=number, event=event):
                job = controller.job(number) if wanted is None or number in wanted else None
                if job is not None:
                    yield _line("job", viewer.job(job), event)
            case GpusChanged(node=node):
                for gpu in gpu_views(controller, node=NodeName(node)):
                    yield _line("gpu", gpu, None)
            case QueueChanged():
                yield _line("queue", queue_view(controller.state), None)
            case Missed():
                yield _line("missed", {}, controller.publisher.last_event)


def _line(kind: str, data: object, event: int | None) -> bytes:
    resume = b"" if event is None else b"id: %d\n" % event
    return b"event: %s\n%sdata: %s\n\n" % (kind.encode(), resume, msgspec.json.encode(data))
