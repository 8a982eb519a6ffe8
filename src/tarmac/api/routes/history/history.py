"""Ended jobs, the newest first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from tarmac.api.answers import csv_answer
from tarmac.api.deps import Context
from tarmac.api.schemas.history.history import (
    CleanAnswer,
    CleanPreview,
    CleanRequest,
    HistoryConditions,
    HistoryCsvQuery,
    HistoryQuery,
    HistoryView,
)
from tarmac.api.views.job import Viewer, checked_fields
from tarmac.api.wording.times import iso
from tarmac.controller.history.states import ended_states
from tarmac.controller.requests.permissions import need_admin
from tarmac.core.model.status import is_ended
from tarmac.refusal import invalid, unavailable
from tarmac.shared.tables import history as table
from tarmac.store.history.removal import CleanFilter
from tarmac.store.history.search import HistoryFilter, Place

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller

CSV_AT_ONCE = 200  # jobs, between two turns of others


async def list_history(context: Context, query: HistoryQuery) -> HistoryView:
    """List and search ended jobs, the newest first. Pass `next` of one page as `after` to get the next page."""
    controller = context.controller
    fields = checked_fields(query.fields)
    await controller.written()
    page = await controller.history.search(_filter(query), after=_cursor(query.after), limit=query.limit)
    places = page.found.places
    jobs = [job for job in controller.jobs([place.job for place in places]) if is_ended(job.status)]
    viewer = Viewer(controller)
    rows: list[Any] = viewer.fields(jobs, fields)
    last = None if page.found.is_last else f"{places[-1].place}.{places[-1].job}"
    return HistoryView(jobs=rows, next=last, unindexed=page.unindexed)


async def history_csv(context: Context, query: HistoryCsvQuery) -> Response:
    """Ended jobs as comma-separated values, as `tarmac history --csv` prints them."""
    wanted, controller = _filter(query), context.controller
    await controller.written()
    found = await controller.history.search(wanted, after=None, limit=1)
    if found.unindexed:
        raise unavailable("history.unindexed", jobs=found.unindexed)
    return csv_answer(_csv_parts(controller, wanted, query.limit), "tarmac-history.csv")


async def _csv_parts(controller: Controller, wanted: HistoryFilter, limit: int | None) -> AsyncIterator[str]:
    """A page at a time: the index and the event loop serve others in between."""
    yield table.TITLES
    viewer, fields, after, left = Viewer(controller), table.COLUMNS, None, limit
    while left is None or left > 0:
        most = CSV_AT_ONCE if left is None else min(left, CSV_AT_ONCE)
        page = await controller.history.search(wanted, after=after, limit=most)
        places = page.found.places
        jobs = [job for job in controller.jobs([place.job for place in places]) if is_ended(job.status)]
        yield table.history_csv(viewer.fields(jobs, fields))
        if page.found.is_last:
            return
        after, left = places[-1], None if left is None else left - len(places)


async def preview_cleaning(context: Context, body: CleanRequest) -> CleanPreview:
    """Say what `POST /history/clean` would remove with the same body."""
    now = context.controller.now()
    found = await context.controller.cleaner.preview(_to_clean(context, body), body.keep)
    limit = found.wanted
    return CleanPreview(
        jobs=len(found.selected.jobs),
        log_bytes=found.log_bytes,
        database_bytes=found.selected.bytes,
        oldest=iso(found.selected.oldest),
        newest=iso(found.selected.newest),
        kept=found.selected.kept,
        before=now if limit.before is None else limit.before,
        before_id=limit.before_id or 0,
    )


async def clean(context: Context, body: CleanRequest) -> CleanAnswer:
    """Remove ended jobs and their logs, some at a time. Repeat with `after` until `last` is null."""
    cleaner, wanted = context.controller.cleaner, _to_clean(context, body)
    done = await cleaner.clean(await cleaner.limited(wanted, body.keep), after=body.after, limit=body.limit)
    if done.last is None:
        await cleaner.finish()
    return CleanAnswer(removed=done.removed, last=done.last)


def _to_clean(context: Context, body: CleanRequest) -> CleanFilter:
    caller = context.caller
    if body.all_owners and body.owner is not None:
        raise invalid("history.owner_and_all")
    if body.all_owners or body.owner not in {None, caller.name}:
        need_admin(caller, "clean")
    owner = None if body.all_owners else body.owner or caller.name
    return CleanFilter(owner=owner, states=ended_states(body.state), before=body.before, before_id=body.before_id)


def _cursor(text: str | None) -> Place | None:
    if text is None:
        return None
    place, dot, job = text.partition(".")
    if not (dot and all(part.isdecimal() and part.isascii() and len(part) <= 18 for part in (place, job))):
        raise invalid("history.wrong_cursor", text=text)
    return Place(int(place), int(job))


def _filter(query: HistoryConditions) -> HistoryFilter:
    return HistoryFilter(
        words=tuple((query.search or "").split()),
        states=ended_states(query.state),
        owner=query.owner,
        project=query.project,
        tag=query.tag,
        node=query.node,
        name=query.name,
        since=query.since,
        until=query.until,
    )
