"""Editing many waiting jobs at once, over HTTP."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import Headers

from tarmac.api.deps import Context
from tarmac.api.routes.job import edit as edit_route
from tarmac.api.routes.job.kill import kill_jobs
from tarmac.api.schemas.job.selection import EditEachRequest, KillRequest
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import Caller
from tarmac.controller.submit.request import EditRequest
from tests.api.served import Served
from tests.controller.engine.desk import RecordingFleet, run, specs, submit
from tests.core.support.builders import a_job

WIDE = {"command": ["sleep", "60"], "gpus": 2}


def edit(api: Served, ids: list[int], **changes: Any) -> tuple[int, Any]:
    return api.ask("POST", "/jobs/edit", {"ids": [str(job) for job in ids], "changes": changes})


def priorities(api: Served, ids: list[int]) -> list[int]:
    return [api.ask("GET", f"/jobs/{job}")[1]["priority"] for job in ids]


def test_waiting_jobs_are_changed_and_running_ones_named(api: Served) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    waiting = api.ids(WIDE, WIDE)
    (held,) = api.ids(WIDE, entry="held")
    status, answer = edit(api, [running, *waiting, held], priority=3)
    assert (status, answer) == (200, {"edited": [*waiting, held], "not_waiting": [running]})
    assert priorities(api, [running, *waiting, held]) == [10, 3, 3, 3]


def test_a_whole_array_is_slowed_down_while_some_of_it_runs(api: Served) -> None:
    ids = api.ids(*[{**WIDE, "max_running": 2}] * 3, group={"kind": "array"})
    api.until(ids[0], "running")
    assert edit(api, ids, max_running=1)[1] == {"edited": ids[1:], "not_waiting": ids[:1]}
    assert api.ask("GET", f"/jobs/{ids[2]}")[1]["max_running"] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [({}, "no change was given"), ({"max_running": 1}, "not part of a group"), ({"priority": "high"}, "priority")],
)
def test_one_invalid_change_means_no_change(api: Served, changes: dict[str, Any], said: str) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    ids = [*api.ids(WIDE, group={"kind": "array"}), *api.ids(WIDE)]
    status, answer = edit(api, ids, **changes)
    assert status == 400
    assert said in answer["error"]["message"]
    assert [api.ask("GET", f"/jobs/{job}")[1]["max_running"] for job in ids] == [None, None]


def test_jobs_cannot_be_made_to_wait_for_one_of_themselves(api: Served) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    first, second = api.ids(WIDE, WIDE)
    status, answer = edit(api, [first, second], after=[str(first)])
    assert (status, f"{first} after {first}" in answer["error"]["message"]) == (400, True)
    assert edit(api, [first, second], after=[f"{running}:any"])[1]["edited"] == [first, second]


def test_unknown_jobs_are_not_found(api: Served) -> None:
    assert edit(api, [999999], priority=1)[0] == 404


def test_the_line_of_a_group_follows_the_commands_of_all_its_jobs(api: Served) -> None:
    jobs = [{"command": ["true", str(x)], "gpus": 0, "params": {"x": str(x)}} for x in (1, 2)]
    ids = api.ids(*jobs, group={"kind": "sweep", "command": "true {x}"}, entry="held")

    def shown() -> tuple[str, str]:
        group = api.ask("POST", "/results", {"group": str(ids[0]), "json": "m.json"})[1]["group"]
        return group["command"], group["varies"]

    assert edit(api, ids[:1], command=["echo", "hi"])[0] == 200
    assert shown() == ("true {x}", "x=1,2")
    assert edit(api, ids, command=["echo", "hi"])[0] == 200
    assert shown() == ("echo hi", "x=1,2")


@pytest.mark.parametrize("change", [{"gpu_models": ["h100"]}, {"min_gpu_memory_bytes": 1}, {"idle_below": 20}])
def test_an_option_of_gpus_is_refused_for_a_job_without_any(api: Served, change: dict[str, Any]) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0}, entry="held")
    status, answer = edit(api, [job], **change)
    assert (status, answer["error"]["key"]) == (400, "edit.needs_gpu")
    assert edit(api, [job], gpus=1, idle_below=20)[0] == 200
    assert edit(api, [job], gpus=0, idle_below=None)[0] == 200


def test_each_job_is_looked_at_once_although_every_change_is_different(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []

    async def counted(_: object, specs: list[object], __: object) -> dict[str, str]:
        looked_at.append(len(specs))
        return {}

    monkeypatch.setattr(edit_route, "conda_prefixes", counted)
    monkeypatch.setattr(edit_route, "Edits", lambda *_: None)
    monkeypatch.setattr(edit_route, "_edited", lambda _, job, *__: job.spec)
    jobs = [a_job(number) for number in range(1, 51)]
    changes = {job.id: EditRequest(priority=job.id) for job in jobs}
    caller = SimpleNamespace(name="ann")
    context: Any = SimpleNamespace(controller=SimpleNamespace(state=None), caller=caller)
    asyncio.run(edit_route._prepared(context, jobs, changes))
    assert sum(looked_at) == len(jobs)


def test_the_variables_of_a_job_that_was_killed_meanwhile_are_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        for _number in range(3):
            await submit(controller, specs())
        caller, more = Caller(name="ann", uid=1000, is_admin=True), {"broadcast": None}
        context = Context(controller=controller, caller=caller, headers=Headers(), end=lambda: None, **more)
        prepared = edit_route._prepared

        async def killed_meanwhile(*args: Any) -> Any:
            edits = await prepared(*args)
            await kill_jobs(context, KillRequest(ids=["2"]))
            return edits

        monkeypatch.setattr(edit_route, "_prepared", killed_meanwhile)
        body = EditEachRequest(
            jobs={"2": EditRequest(env=["API_TOKEN=two"]), "3": EditRequest(env=["API_TOKEN=three"])}
        )
        answer = await edit_route.edit_each(context, body)
        assert (answer.edited, answer.not_waiting) == ([3], [2])

    run(tmp_path, story)
    secrets = [path.read_bytes() for path in tmp_path.rglob("secrets/*") if path.is_file()]
    assert any(b"three" in one for one in secrets)
    assert not any(b"two" in one for one in secrets)
