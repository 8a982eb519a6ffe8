"""What `tarmac ls` shows: active jobs and the newest ended ones, as of one moment."""

from __future__ import annotations

from typing import Any

from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import jobs_at_work, renew
from tarmac.api.schemas.job.jobs import RecentJobs, RecentQuery
from tarmac.api.views.job import Viewer, checked_fields
from tarmac.controller.requests.selectors import job_filter
from tarmac.shared.names import AT_WORK, WAITING


async def list_recent(context: Context, query: RecentQuery) -> RecentJobs:
    """List active jobs and the newest ended ones, as of one moment: a job that changes meanwhile is listed once."""
    controller, reader = context.controller, context.controller.store.reader
    fields, waiting_fields = checked_fields(query.fields), checked_fields(query.waiting_fields)
    await renew(controller, jobs_at_work(controller))

    def select(state: str, limit: int, *, descending: bool = False) -> list[int]:
        wanted = job_filter(reader, context.caller.name, state=state, is_alone=query.alone)
        return reader.select_ids(wanted, limit=limit, descending=descending)

    with reader.at_one_moment():
        at_work = select(",".join(AT_WORK), -1)
        waiting = select(",".join(WAITING), query.waiting + 1)  # one more tells whether there are more
        ended = select("ended", query.ended, descending=True) if query.ended else []
    at_work = [number for number in at_work if not controller.is_ended(number)]  # an unknown outcome may be final
    page = waiting[: query.waiting]
    viewer = Viewer(controller)

    def views(numbers: list[int], names: tuple[str, ...]) -> list[Any]:
        return viewer.fields(controller.jobs(numbers), names)

    return RecentJobs(
        at_work=views(at_work, fields),
        waiting=views(page, waiting_fields),
        ended=views([number for number in ended if number not in at_work], fields),
        next=page[-1] if len(waiting) > query.waiting else None,
    )
