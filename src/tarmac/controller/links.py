"""Keeps the addresses of experiment trackers that jobs write to their logs: of W&B, MLflow and TensorBoard.

Nodes look for them: in the logs of running jobs now and then, less and less often, and once when an attempt has ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from dataclasses import field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.engine.decision import Decision
from tarmac.controller.log_paths import is_elsewhere, output_paths, running_with_logs
from tarmac.controller.soonest_timer import SoonestTimer
from tarmac.records import dataclass
from tarmac.refusal import Refused
from tarmac.store.batch import Link

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.core.changes import Changes
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.to_agent import LinkFile
    from tarmac.store.reader import Reader

log = logging.getLogger(__name__)

FIRST_S = 20.0  # after the start of a job; then twice as long each time
SHORTEST_S = 1.0  # an attempt that ran for less has no tracker
ENDED_AFTER_S = 0.2  # attempts that end soon after each other are looked at together
FILES_PER_QUESTION = 100
MOST_LINKS = 10  # of a job


class Attempt(NamedTuple):
    job: JobId
    number: int


@dataclass(slots=True)
class _Watched:
    node: NodeName
    began: float
    due: float
    offsets: dict[str, int]  # by path, up to where it was looked at
    found: set[str] = field(default_factory=set)


class LinkKeeper:
    def __init__(self, engine: Engine, fleet: Fleet, reader: Reader, state_folder: Path) -> None:
        self._engine = engine
        self._fleet = fleet
        self._reader = reader
        self._state_folder = state_folder
        self._running: dict[Attempt, _Watched] = {}
        self._ended: dict[Attempt, _Watched] = {}
        self._timer = SoonestTimer(self._look)
        self._task: asyncio.Task[None] | None = None
        engine.after_attempts.append(self._attempts_ended)
        engine.after_commit.append(self._look_soon)

    def _attempts_ended(self, changes: Changes) -> None:
        for attempt in changes.attempts:
            job, key = changes.changed.get(attempt.job), Attempt(attempt.job, attempt.number)
            watched = self._running.pop(key, None)
            is_long = attempt.started_at is not None and attempt.ended_at - attempt.started_at >= SHORTEST_S
            if job is not None and is_long and not is_elsewhere(job):
                self._ended[key] = watched or self._watch(job, attempt.number, attempt.booking.node)
        if self._ended:
            self._timer.after(ENDED_AFTER_S)

    def _look_soon(self) -> None:
        """Called after every commit: a job may have started."""
        if not self._timer.is_set and any(node.host for node in self._engine.state.nodes.values()):
            self._timer.after(FIRST_S)

    def _look(self) -> None:
        if self._task is not None and not self._task.done():
            self._timer.after(ENDED_AFTER_S)
            return
        self._refresh()
        now = monotonic()
        due = {key: watched for key, watched in self._running.items() if watched.due <= now}
        ended, self._ended = self._ended, {}
        if due or ended:
            self._task = asyncio.get_running_loop().create_task(self._find(due, ended))
            self._task.add_done_callback(_report)
        if self._running:
            self._timer.after(FIRST_S)

    def _refresh(self) -> None:
        """Add attempts that have begun."""
        current = {}
        for job, booking in running_with_logs(self._engine.state):
            key = Attempt(job.id, job.attempt)
            current[key] = self._running.get(key) or self._watch(job, job.attempt, booking.node)
        self._running = current

    def _watch(self, job: Job, attempt: int, node: NodeName) -> _Watched:
        paths = output_paths(self._state_folder, job, attempt)
        now = monotonic()
        return _Watched(node=node, began=now - FIRST_S, due=now, offsets=dict.fromkeys(paths, 0))

    async def _find(self, running: dict[Attempt, _Watched], ended: dict[Attempt, _Watched]) -> None:
        of_node: dict[NodeName, list[tuple[Attempt, _Watched, str, bool]]] = defaultdict(list)
        for attempts, is_over in ((running, False), (ended, True)):
            for key, watched in attempts.items():
                watched.due = monotonic() + max(FIRST_S, monotonic() - watched.began)
                of_node[watched.node] += [(key, watched, path, is_over) for path in watched.offsets]
        for node, files in of_node.items():
            for at in range(0, len(files), FILES_PER_QUESTION):
                await self._ask(node, files[at : at + FILES_PER_QUESTION])

    async def _ask(self, node: NodeName, files: list[tuple[Attempt, _Watched, str, bool]]) -> None:
        asked: list[LinkFile] = [
            {"path": path, "offset": watched.offsets[path], "is_over": is_over} for _, watched, path, is_over in files
        ]
        try:
            answer = await self._fleet.ask(node, {"type": "find_links", "files": asked})
        except Refused:
            return
        new: list[Link] = []
        for (key, watched, path, _), found in zip(files, answer.get("found", ()), strict=False):
            watched.offsets[path] = found["offset"]
            for link in found["links"]:
                if link["url"] not in watched.found and len(watched.found) < MOST_LINKS:
                    watched.found.add(link["url"])
                    new.append(Link(key.job, link["kind"], link["url"]))
        if new:
            await self._keep(new)

    async def _keep(self, links: list[Link]) -> None:
        known = self._reader.links({link.job for link in links})
        new = [link for link in links if link not in known.get(link.job, ())]
        if new:
            try:
                await self._engine.decide(lambda _: Decision(answer=None, links=new))
            except Refused as error:
                log.warning("links of jobs are not kept: %s", error)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("logs cannot be searched for links", exc_info=error)
