"""Wait until jobs have ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import words_of
from tarmac.api.schemas.job.jobs import WaitAnswer, WaitQuery
from tarmac.api.views.job import Viewer, checked_fields
from tarmac.api.wording.why.degraded import wait_words
from tarmac.controller.requests.selectors import job_filter
from tarmac.refusal import not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller

MOST_WATCHED = 1000  # jobs of one request at a time: each change is compared with them
VIEWS_AT_ONCE = 500  # between two turns of other requests


async def wait_for_jobs(context: Context, query: WaitQuery) -> WaitAnswer:
    """Return when all jobs have ended, at the timeout with those that have, or when there is something to say."""
    controller, reader = context.controller, context.controller.store.reader
    words, fields = words_of(query.ids), checked_fields(query.fields)
    numbers = reader.select_ids(job_filter(reader, context.caller.name, ids=words))
    if not numbers and "all" not in words:
        raise not_found("jobs.no_match")
    with suppress(TimeoutError):
        async with asyncio.timeout(query.timeout_s):
            # The answer waits for all of them, so it is enough to watch some until these have ended.
            while (watched := _pending(controller, numbers)[:MOST_WATCHED]) and not controller.is_ending:
                if await _is_there_news(controller, watched, query):
                    break
    pending = _pending(controller, numbers)
    left = set(pending)
    ended = [number for number in numbers if number not in left]
    notice = wait_words(controller, pending[:MOST_WATCHED]) if pending else None
    return WaitAnswer(jobs=await _views(controller, ended, fields), pending=pending, notice=notice)


async def _is_there_news(controller: Controller, numbers: list[int], query: WaitQuery) -> bool:
    """False once these jobs have ended; True as soon as there is something to say that the client does not know."""
    listener = controller.publisher.listen(numbers)
    try:
        while (numbers := _pending(controller, numbers)) and not controller.is_ending:
            if query.known not in {None, wait_words(controller, numbers) or ""}:
                return True
            await listener.take(query.timeout_s)
    finally:
        controller.publisher.unlisten(listener)
    return False


def _pending(controller: Controller, numbers: Sequence[int]) -> list[int]:
    """Those that have not ended, or whose files are still being copied back."""
    fetches = controller.fetches
    return [number for number in numbers if not controller.is_ended(number) or fetches.is_under_way(number)]


async def _views(controller: Controller, numbers: Sequence[int], fields: tuple[str, ...]) -> list[Any]:
    """Some fields of each job. Other requests are answered in between."""
    views: list[Any] = []
    for begin in range(0, len(numbers), VIEWS_AT_ONCE):
        async with controller.publisher.turn():
            some = controller.jobs(list(numbers[begin : begin + VIEWS_AT_ONCE]))
            views += Viewer(controller).fields(some, fields)
    return views
