"""Who may do what: strangers nothing, users what concerns their own jobs, admins everything."""

from pathlib import Path
from typing import Any

import pytest

from tarmac.controller.controller import Controller
from tests.api.asgi import ask, named, with_controller

ONE = {"ids": ["1"]}
URGENT = {"cwd": "/", "jobs": [{"command": ["true"], "tier": "urgent"}]}

TO_A_JOB: dict[str, tuple[Any, ...]] = {
    "hold": ("POST", "/jobs/hold", ONE),
    "release": ("POST", "/jobs/release", ONE),
    "move": ("POST", "/jobs/1/move", {"position": 1}),
    "edit many": ("POST", "/jobs/edit", {**ONE, "changes": {"priority": 1}}),
    "edit": ("PATCH", "/jobs/1", {"priority": 1}),
    "kill": ("POST", "/jobs/kill", ONE),
    "rm": ("POST", "/jobs/rm", ONE),
    "pause": ("POST", "/jobs/pause", ONE),
    "resume": ("POST", "/jobs/resume", ONE),
    "retry": ("POST", "/jobs/retry", ONE),
    "label": ("POST", "/jobs/label", {**ONE, "set_name": "x"}),
    "move many": ("POST", "/jobs/move", {**ONE, "position": 1}),
}
TO_THE_QUEUE: dict[str, tuple[Any, ...]] = {
    "start": ("POST", "/jobs/1/start", {}),
    "pause": ("POST", "/queue/pause", {}),
    "drain": ("POST", "/queue/drain", {}),
    "resume": ("POST", "/queue/resume", {}),
    "stop": ("POST", "/queue/stop", {"requeue": True}),
    "reserve": ("POST", "/reservations", {"gpus": 1, "from": 1000.0, "for_s": 60.0}),
    "set": ("PUT", "/settings/grace_s", {"value": "5"}),
    "reset": ("DELETE", "/settings/grace_s"),
    "drain a GPU": ("POST", "/gpus/drain", {"gpus": ["0"]}),
    "resume a GPU": ("POST", "/gpus/resume", {"gpus": ["0"]}),
    "share a GPU": ("POST", "/gpus/slots", {"gpus": ["0"], "slots": 2}),
    "ignore a program": ("POST", "/gpus/ignore", {"command": "sunshine"}),
    "urgent": ("POST", "/jobs", URGENT),
    "make many urgent": ("POST", "/jobs/edit", {**ONE, "changes": {"tier": "urgent"}}),
    "make urgent": ("PATCH", "/jobs/1", {"tier": "urgent"}),
}


@pytest.mark.parametrize("act", [*TO_A_JOB, *TO_THE_QUEUE])
def test_a_user_without_rights_is_refused_and_nothing_happens(tmp_path: Path, act: str) -> None:
    async def story(controller: Controller) -> None:
        before = controller.job(1)
        generation = controller.engine.generation
        status, answer = await ask(controller, *{**TO_A_JOB, **TO_THE_QUEUE}[act], guard=named("mallory"))
        assert (status, answer["error"]["code"]) == (403, "not_allowed")
        assert answer["error"]["hint"]
        assert (controller.job(1), controller.engine.generation) == (before, generation)

    with_controller(tmp_path, story)


@pytest.mark.parametrize("act", ["hold", "release", "edit", "kill", "rm"])
def test_everybody_acts_on_their_own_jobs(tmp_path: Path, act: str) -> None:
    async def story(controller: Controller) -> None:
        if act == "hold":  # a held job has to be released first
            await ask(controller, *TO_THE_QUEUE["pause"], guard=named("eve"))
            await ask(controller, *TO_A_JOB["release"], guard=named("ann"))
        before = controller.engine.generation
        assert (await ask(controller, *TO_A_JOB[act], guard=named("ann")))[0] == 200
        assert controller.engine.generation > before, "it was done"

    with_controller(tmp_path, story)


@pytest.mark.parametrize("act", ["release", "edit", "kill", "rm", *TO_THE_QUEUE])
def test_an_admin_acts_on_everything(tmp_path: Path, act: str) -> None:
    async def story(controller: Controller) -> None:
        before = controller.engine.generation
        status, answer = await ask(controller, *{**TO_A_JOB, **TO_THE_QUEUE}[act], guard=named("eve"))
        assert status in {200, 201}, answer
        assert controller.engine.generation > before, "it was done"

    with_controller(tmp_path, story)


def test_a_reservation_is_ended_by_its_owner_or_an_admin(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        wanted = {"gpus": 1, "from": 1000.0, "for_s": 60.0, "user": "bob"}
        _, made = await ask(controller, "POST", "/reservations", wanted, guard=named("eve"))
        end = f"/reservations/{made['id']}/end"
        status, answer = await ask(controller, "POST", end, guard=named("mallory"))
        assert (status, answer["error"]["message"]) == (403, f"reservation {made['id']} is for bob")
        assert (await ask(controller, "POST", end, guard=named("bob")))[0] == 200
        assert controller.state.reservations == {}

    with_controller(tmp_path, story)
