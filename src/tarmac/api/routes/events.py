"""The event stream (SSE): changes of jobs, GPUs and the queue. Last-Event-ID resumes it."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.events import EventsQuery
from tarmac.api.sse.stream import EventStream
from tarmac.refusal import invalid
from tarmac.shared.numbers import whole_number


async def events(context: Context, query: EventsQuery) -> EventStream:
    """`job`, `gpu` and `queue` events carry the whole object as data. After `missed`, list everything again."""
    wanted = None if query.jobs is None else _numbers(query.jobs)
    after = _resume_point(context.headers.get("last-event-id"))
    return EventStream(context.broadcast, wanted, after, is_live=query.live)


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
