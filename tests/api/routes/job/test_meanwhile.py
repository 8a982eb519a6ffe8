"""Edits and clones during which other requests come first: what was checked is what is done."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.routes.job import edit
from tarmac.api.routes.job.copies import clone
from tarmac.api.routes.job.copies.clone import clone_jobs
from tarmac.api.schemas.job.selection import CloneRequest
from tarmac.controller.controller import Controller
from tarmac.controller.submit.paths.needed import MissingOnNodes
from tarmac.controller.submit.request import EditRequest
from tarmac.core.model.ids import JobId
from tests.api.routes.job.test_in_parts import context_of
from tests.controller.engine.desk import RecordingFleet, run, specs, submit


def test_a_job_that_was_not_checked_is_not_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        await submit(controller, specs())

        async def prefixes(*_: object) -> dict[Any, Any]:
            await submit(controller, specs())
            return {}

        monkeypatch.setattr(edit, "conda_prefixes", prefixes)
        change = EditRequest(name="new")
        answer = await edit._edit(context_of(controller), {JobId(2): change, JobId(3): change})
        assert (answer.edited, answer.not_waiting) == ([2], [3])
        assert [controller.state.jobs[JobId(number)].spec.name for number in (2, 3)] == ["new", None]

    run(tmp_path, story)


def test_many_different_changes_are_sorted_in_one_walk(tmp_path: Path) -> None:
    class Counting(dict[JobId, EditRequest]):
        asked = 0

        def __getitem__(self, job: JobId) -> EditRequest:
            self.asked += 1
            return super().__getitem__(job)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        await asyncio.gather(*(submit(controller, specs()) for _ in range(101)))
        changes = Counting({JobId(number): EditRequest(note=str(number)) for number in range(2, 102)})
        assert len((await edit._edit(context_of(controller), changes)).edited) == 100
        assert changes.asked < 20 * 100

    run(tmp_path, story)


def test_the_output_files_of_a_clone_have_the_ids_that_were_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        checked: list[str | None] = []

        async def check(found: list[Any], *_: object) -> MissingOnNodes:
            checked.append(found[0].stdout)
            if len(checked) == 1:
                await submit(controller, specs())
            return MissingOnNodes({})

        monkeypatch.setattr(clone, "check_submitted_paths", check)
        monkeypatch.setattr(clone, "_refuse_without_copy", lambda *_: None)
        changes = EditRequest(log=f"{tmp_path}/{{id}}.log", fill_paths=True)
        answer = await clone_jobs(context_of(controller), CloneRequest(ids=["1"], changes=changes))
        assert answer.ids == [3]
        assert checked == [f"{tmp_path}/2.log", f"{tmp_path}/3.log"]
        assert controller.state.jobs[JobId(3)].spec.stdout == checked[-1]
        assert "a plan failed" not in caplog.text

    run(tmp_path, story)
