"""The history reads the disk, and memory is ahead of it: a job that was shown as ended is not missing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from tarmac.api.deps import Context
from tarmac.api.routes.history.exports import export_jobs
from tarmac.api.routes.history.history import list_history
from tarmac.api.schemas.history.history import ExportQuery, HistoryQuery
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import Caller
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import is_ended
from tests.controller.engine.desk import RecordingFleet, exited, run, specs, submit


async def exported(context: Context) -> list[Any]:
    return [record["job"]["id"] for record in (await export_jobs(context, ExportQuery(ids="1"))).records]


async def listed(context: Context) -> list[Any]:
    return [row["id"] for row in (await list_history(context, HistoryQuery(fields="id"))).jobs]


@pytest.mark.parametrize("read", [exported, listed])
def test_a_job_whose_end_is_being_written_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Context], Awaitable[list[Any]]]
) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        held: list[Any] = []
        write = controller.store.commit
        monkeypatch.setattr(controller.store, "commit", lambda *commit: held.append(commit))
        controller.engine.post(exited(1))
        job = controller.job(JobId(1))
        assert job is not None
        assert is_ended(job.status), "as `show` answers now"
        caller = Caller(name="ann", uid=1000, is_admin=True)
        context = Context(controller=controller, caller=caller, headers=Headers(), end=lambda: None, broadcast=None)  # type: ignore[arg-type]
        reading = asyncio.ensure_future(read(context))
        done, _ = await asyncio.wait({reading}, timeout=0.2)
        assert not done
        monkeypatch.undo()
        write(*held.pop())
        assert await reading == [1]

    run(tmp_path, story)
