"""Users clean, export and import their own jobs; admins those of everyone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tarmac.controller.controller import Controller
from tests.api.asgi import ask, named, with_controller


async def as_user(controller: Controller, user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    return await ask(controller, method, path, body, guard=named(user))


def test_only_admins_act_on_the_jobs_of_others(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        assert (await as_user(controller, "ann", "POST", "/jobs/kill", {"ids": ["1"]}))[0] == 200
        for body in ({"owner": "ann"}, {"all_owners": True}):
            for path in ("/history/clean", "/history/clean/preview"):
                status, answer = await as_user(controller, "bob", "POST", path, body)
                assert (status, answer["error"]["key"]) == (403, "permission.admin_only")
        assert (await as_user(controller, "bob", "POST", "/history/clean", {}))[1]["removed"] == 0
        assert (await as_user(controller, "bob", "GET", "/history"))[1]["jobs"][0]["owner"] == "ann"

        status, page = await as_user(controller, "bob", "GET", "/history/export")
        assert (status, "environment" in page["records"][0]) == (200, False)
        status, answer = await as_user(controller, "bob", "GET", "/history/export?environment=true")
        assert (status, answer["error"]["key"]) == (403, "permission.not_owner")
        assert (await as_user(controller, "ann", "GET", "/history/export?environment=true"))[0] == 200

        lines = [{"line": 2, "record": page["records"][0]}]
        body = {"header": page["header"], "lines": lines}
        status, answer = await as_user(controller, "bob", "POST", "/history/import", body)
        assert (status, answer["error"]["key"]) == (403, "history.others_job")
        assert (await as_user(controller, "eve", "POST", "/history/clean", {"owner": "ann"}))[1]["removed"] == 1
        assert (await as_user(controller, "ann", "POST", "/history/import", body))[1]["jobs"] == [
            {"id": 1, "new": True}
        ]
        log = {"job": 1, "attempt": 1, "offset": 0, "data": ""}
        assert (await as_user(controller, "bob", "POST", "/history/import/log", log))[0] in {403, 409}
        controller.history.end()

    with_controller(tmp_path, story)


def test_nobody_gets_the_environment_of_another_by_its_hash(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        await as_user(controller, "ann", "POST", "/jobs/kill", {"ids": ["1"]})
        _, page = await as_user(controller, "ann", "GET", "/history/export")
        record = page["records"][0]
        record["job"] |= {"id": 50, "owner": "bob", "submitted_at": 5.0}
        record["job"]["spec"]["owner"] = "bob"
        body = {"header": {**page["header"], "queue": "other"}, "lines": [{"line": 2, "record": record}], "above": 50}
        status, answer = await as_user(controller, "bob", "POST", "/history/import", body)
        assert (status, answer["jobs"]) == (200, [{"id": 50, "new": True}])
        imported = controller.job(50)
        assert imported is not None
        assert not imported.spec.can_run_again
        controller.history.end()

    with_controller(tmp_path, story)
