"""Links in the logs of running jobs: when they are looked for, and what is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tarmac.controller import links
from tarmac.controller.links import LinkKeeper
from tarmac.refusal import unavailable
from tests.core.support.builders import a_spec
from tests.core.support.scene import Scene

RUN = {"kind": "wandb", "url": "https://wandb.ai/a/b/runs/a1b2c3d4"}


class World:
    """An engine, a fleet and a reader in one."""

    def __init__(self, scene: Scene) -> None:
        self.state = scene.state
        self.after_commit: list[Any] = []
        self.after_attempts: list[Any] = []
        self.asked: list[Any] = []
        self.kept: list[Any] = []
        self.answer: list[Any] = [RUN]
        self.is_away = False
        self.news = asyncio.Event()

    async def ask(self, _: str, question: Any) -> Any:
        self.news.set()
        self.asked.append([(file["path"], file["offset"], file["is_over"]) for file in question["files"]])
        if self.is_away:
            raise unavailable("agent.unreachable", node="box")
        return {"found": [{"links": self.answer, "offset": 7} for _ in question["files"]]}

    async def decide(self, plan: Any) -> None:
        self.kept += plan(self.state).links
        self.news.set()

    def links(self, _: Any) -> dict[int, list[Any]]:
        return {link.job: [one for one in self.kept if one.job == link.job] for link in self.kept}

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something that follows a question or a decision."""
        async with asyncio.timeout(20):
            while not condition():
                self.news.clear()
                await self.news.wait()


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(links, "FIRST_S", 0.01)
    monkeypatch.setattr(links, "ENDED_AFTER_S", 0.001)
    found = Scene(gpus=2)
    found.submit(a_spec(stdout="/out"))
    found.begin(1)
    found.state.take_changes()
    return found


def watching(world: World) -> LinkKeeper:
    keeper = LinkKeeper(world, world, world, Path("/state"))  # type: ignore[arg-type]
    world.after_commit[0]()
    return keeper


def test_a_running_job_is_looked_at_and_its_links_are_kept_once(scene: Scene) -> None:
    async def story() -> World:
        world = World(scene)
        watching(world)
        await world.until(lambda: len(world.asked) > 2)
        return world

    world = asyncio.run(story())
    assert world.asked[:2] == [[("/out", 0, False)], [("/out", 7, False)]]
    assert [(link.job, link.url) for link in world.kept] == [(1, RUN["url"])]


def test_a_node_that_is_away_is_asked_again(scene: Scene) -> None:
    async def story() -> World:
        world = World(scene)
        world.is_away = True
        watching(world)
        await world.until(lambda: world.asked)
        world.is_away = False
        await world.until(lambda: world.kept)
        return world

    assert len(asyncio.run(story()).kept) == 1


def test_attempts_that_ended_are_looked_at_unless_they_were_short(scene: Scene) -> None:
    async def story() -> World:
        world = World(scene)
        LinkKeeper(world, world, world, Path("/state"))  # type: ignore[arg-type]
        scene.finish(1)
        changes = scene.state.take_changes()
        (ended,) = changes.attempts
        changes.attempts = [replace(ended, number=1, started_at=10.0, ended_at=10.5)]
        world.after_attempts[0](changes)
        changes.attempts = [replace(ended, number=2, started_at=10.0, ended_at=15.0)]
        world.after_attempts[0](changes)
        await world.until(lambda: world.kept)
        return world

    world = asyncio.run(story())
    assert world.asked == [[("/out", 0, True)]]
    assert [link.job for link in world.kept] == [1]
