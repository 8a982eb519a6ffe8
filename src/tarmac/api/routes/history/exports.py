"""Exports and imports of ended jobs."""

from __future__ import annotations

import asyncio
from time import time

from tarmac import __version__
from tarmac.api.deps import Context
from tarmac.api.schemas.history.history import (
    ExportPage,
    ExportQuery,
    ImportAnswer,
    ImportedView,
    ImportLogAnswer,
    ImportLogRequest,
    ImportRequest,
)
from tarmac.controller.history.importing import Line
from tarmac.controller.history.states import ended_states
from tarmac.controller.requests.permissions import refuse_other_owner
from tarmac.controller.requests.selectors import job_filter
from tarmac.store.environments.secret_files import SecretFiles
from tarmac.store.history import records
from tarmac.store.reader import Reader

ENDED = "ended"


async def export_jobs(context: Context, query: ExportQuery) -> ExportPage:
    """Export ended jobs with all that belongs to them, some at a time."""
    controller = context.controller
    wanted = job_filter(
        controller.store.reader,
        context.caller.name,
        ids=query.ids.split(",") if query.ids else (),
        state=",".join(ended_states(query.state)) or ENDED,
        owner=query.owner,
        name=query.name,
        tag=query.tag,
    )

    def read() -> ExportPage:
        path = controller.store.path
        with records.snapshot(path) as connection:
            chosen = Reader(connection, SecretFiles(path)).select_ids(wanted, after=query.after, limit=query.limit + 1)
            return ExportPage(
                header=records.header(connection, at=time(), version=__version__),
                records=list(records.records(connection, chosen[: query.limit], with_environment=query.environment)),
                next=chosen[query.limit - 1] if len(chosen) > query.limit else None,
            )

    await controller.written()
    page = await asyncio.to_thread(read)
    if query.environment and not context.caller.is_admin:
        for record in page.records:
            refuse_other_owner(record["job"]["id"], record["job"]["owner"], context.caller)
    return page


async def import_jobs(context: Context, body: ImportRequest) -> ImportAnswer:
    """Import lines of an exported file, all or none. Jobs that are here already are left as they are."""
    lines = [Line(one.line, one.record) for one in body.lines]
    added = await context.controller.importer.add(
        body.header, lines, above=body.above, caller=context.caller, dry_run=body.dry_run
    )
    return ImportAnswer(jobs=[ImportedView(id=one.id, new=one.is_new) for one in added])


async def import_log(context: Context, body: ImportLogRequest) -> ImportLogAnswer:
    """Import a part of the log of an imported job."""
    await context.controller.importer.add_log(
        body.job, body.attempt, offset=body.offset, data=body.data, caller=context.caller
    )
    return ImportLogAnswer(job=body.job)
