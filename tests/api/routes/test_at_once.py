"""Requests that change settings at the same time: none is lost, and a failed commit leaves memory as the disk is."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.gpus import ignored
from tarmac.core.model.ids import NodeName
from tarmac.nodes.facts import Process, ProcessFacts
from tarmac.refusal import unavailable
from tests.api.asgi import ask, named, with_controller

DESK = NodeName("desk")


class Machine:
    """Answers which processes exist, once all requests that are expected have asked."""

    def __init__(self, alive: Iterable[int], expected: int = 1) -> None:
        self.alive = set(alive)
        self._barrier = asyncio.Barrier(expected)

    async def describe(self, _fleet: Any, _node: NodeName, pids: Iterable[int]) -> ProcessFacts:
        await self._barrier.wait()
        found = [
            Process(pid=pid, start_time=pid * 10, uid=0, name="x", command=[], cwd=None)
            for pid in pids
            if pid in self.alive
        ]
        return ProcessFacts(boot_id="boot", agent_uid=0, processes=found)


async def ignore(controller: Controller, **body: Any) -> tuple[int, Any]:
    return await ask(controller, "POST", "/gpus/ignore", body, guard=named("eve"))


async def put(controller: Controller, name: str, value: str) -> tuple[int, Any]:
    return await ask(controller, "PUT", f"/settings/{name}", {"value": value}, guard=named("eve"))


def break_commits(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        controller.store, "commit", lambda _, done: done(unavailable("store.cannot_write", error="full"))
    )


def stored_starts(controller: Controller) -> Any:
    text = controller.store.reader.settings().get(ignored.SETTING)
    return ignored.IgnoredProcesses(text, DESK, lambda _: None).starts_on(DESK)


def test_two_processes_ignored_at_once_are_both_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(controller: Controller) -> None:
        monkeypatch.setattr("tarmac.api.routes.gpus.ignore.describe_processes", Machine({7, 8}, expected=2).describe)
        answers = await asyncio.gather(ignore(controller, pid=7), ignore(controller, pid=8))
        assert [status for status, _ in answers] == [200, 200]
        assert controller.ignored.starts_on(DESK) == stored_starts(controller) == {7: 70, 8: 80}

    with_controller(tmp_path, story)


def test_ended_processes_are_forgotten_when_another_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(controller: Controller) -> None:
        machine = Machine({7, 8})
        monkeypatch.setattr("tarmac.api.routes.gpus.ignore.describe_processes", machine.describe)
        await ignore(controller, pid=7)
        machine.alive = {8}
        assert await ignore(controller, pid=8) == (200, {"ignored": ["8"]})
        assert controller.ignored.starts_on(DESK) == stored_starts(controller) == {8: 80}

    with_controller(tmp_path, story)


def test_a_failed_commit_leaves_the_ignored_processes_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(controller: Controller) -> None:
        machine = Machine({7, 8})
        monkeypatch.setattr("tarmac.api.routes.gpus.ignore.describe_processes", machine.describe)
        await ignore(controller, pid=7)
        machine.alive = {8}
        break_commits(controller, monkeypatch)
        status, _ = await ignore(controller, pid=8)
        assert status == 503
        assert controller.ignored.starts_on(DESK) == stored_starts(controller) == {7: 70}

    with_controller(tmp_path, story)


def test_two_settings_changed_at_once_are_both_in_force(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        answers = await asyncio.gather(put(controller, "grace_s", "7s"), put(controller, "max_queued", "9"))
        assert [status for status, _ in answers] == [200, 200]
        assert controller.settings.in_force.grace_s == 7
        assert controller.settings.in_force.rules == controller.state.rules
        assert controller.settings.live.keys() >= {"grace_s", "max_queued"}

    with_controller(tmp_path, story)


def test_two_settings_that_contradict_each_other_are_not_both_accepted(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        await put(controller, "idle_warn_s", "10m")
        await put(controller, "idle_stop_s", "1h")
        answers = await asyncio.gather(put(controller, "idle_warn_s", "50m"), put(controller, "idle_stop_s", "20m"))
        assert [status for status, _ in answers] == [200, 400]

    with_controller(tmp_path, story)


def test_a_failed_commit_leaves_the_settings_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(controller: Controller) -> None:
        before, rules = controller.settings, controller.state.rules
        break_commits(controller, monkeypatch)
        answers = await asyncio.gather(put(controller, "grace_s", "7s"), put(controller, "max_queued", "9"))
        assert [status for status, _ in answers] == [503, 503]
        assert controller.settings is before
        assert controller.state.rules == rules

    with_controller(tmp_path, story)


def test_two_programs_ignored_at_once_are_both_ignored(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        await asyncio.gather(ignore(controller, command="one"), ignore(controller, command="two"))
        assert {"one", "two"} <= set(controller.settings.in_force.ignore_processes)
        assert {"one", "two"} <= set(controller.store.reader.settings()["ignore_processes"].split(","))

    with_controller(tmp_path, story)
