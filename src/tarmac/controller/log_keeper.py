"""Looks at the logs of running jobs now and then: caps those that are too large, and notes how long each was when.

The notes answer `tarmac log --since`: lines have no times. A log that grows fast towards its cap is looked at several
times a second, all others rarely, so that hundreds of running jobs cost little. Nodes do the work.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from dataclasses import field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.log_paths import output_paths, running_with_logs
from tarmac.controller.soonest_timer import SoonestTimer
from tarmac.records import dataclass
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.to_agent import ReadLogFrame

log = logging.getLogger(__name__)

FIRST_S = 15.0
FIRST_CAPPED_S = 0.5  # a loop may write a gigabyte per second
SOONEST_S = 0.1
AGAIN_AFTER_PART = 0.05  # of the time it has been running
AGAIN_AFTER_MOST_S = 300.0
AGAIN_CAPPED_S = 5.0
MOST_MARKS = 256  # of one file; every other is dropped then
MOST_ENDED = 1000  # files of ended attempts whose marks are remembered


class File(NamedTuple):
    job: JobId
    attempt: int
    path: str


@dataclass(slots=True)
class _Watched:
    began: float
    due: float
    node: NodeName
    is_capped: bool
    size: int = 0
    looked_at: float = 0.0
    is_asked: bool = False
    times: list[float] = field(default_factory=list)  # wall times and sizes, in the order of time
    sizes: list[int] = field(default_factory=list)
    gap_s: float = 0.0  # between two of them, at least

    def note(self, at: float, size: int) -> None:
        if self.sizes and self.sizes[-1] == size:
            self.times[-1] = at  # it was as long until now
            return
        if len(self.times) > 1 and at - self.times[-2] < self.gap_s:
            del self.times[-1], self.sizes[-1]
        self.times.append(at)
        self.sizes.append(size)
        if len(self.times) > MOST_MARKS:
            self.gap_s = 2 * (at - self.times[0]) / MOST_MARKS
            del self.times[1:-1:2], self.sizes[1:-1:2]

    def size_at(self, at: float) -> int:
        """How long it was then, or somewhat earlier."""
        index = bisect_right(self.times, at)
        return self.sizes[index - 1] if index else 0


class LogKeeper:
    def __init__(self, engine: Engine, fleet: Fleet, state_folder: Path) -> None:
        self._engine = engine
        self._fleet = fleet
        self._state_folder = state_folder
        self._watched: dict[File, _Watched] = {}
        self._ended: dict[File, _Watched] = {}
        self._timer = SoonestTimer(self._look)
        self._tasks: set[asyncio.Task[None]] = set()
        engine.after_commit.append(self.look_soon)
        self.look_soon()

    @property
    def limit(self) -> int:
        return self._engine.settings.in_force.log_limit

    def offset_at(self, job: Job, attempt: int, path: str, at: float) -> int:
        """Where the output since a time begins, or somewhat before it. 0 if nothing is known."""
        file = File(job.id, attempt, path)
        watched = self._watched.get(file) or self._ended.get(file)
        return 0 if watched is None else watched.size_at(at)

    def look_soon(self) -> None:
        """Called after every commit: a job may have started, or the limit may have been set."""
        first_s = FIRST_CAPPED_S if self.limit else FIRST_S
        if any(node.host for node in self._engine.state.nodes.values()):
            self._timer.after(first_s)

    def _look(self) -> None:
        self._refresh()
        now = monotonic()
        for file, watched in self._watched.items():
            if watched.due <= now and not watched.is_asked:
                watched.is_asked = True
                task = asyncio.get_running_loop().create_task(self._ask(file, watched))
                self._tasks.add(task)
                task.add_done_callback(self._asked)
        waiting = [watched.due for watched in self._watched.values() if not watched.is_asked]
        if waiting:
            self._timer.after(max(SOONEST_S, min(waiting) - now))

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a log cannot be looked at", exc_info=error)
        if self._watched:
            self._timer.after(max(SOONEST_S, min(one.due for one in self._watched.values()) - monotonic()))

    def _refresh(self) -> None:
        """Forget files of attempts that have ended, but not their marks, and add those of new ones."""
        now = monotonic()
        current: dict[File, _Watched] = {}
        for job, booking in running_with_logs(self._engine.state):
            for path in output_paths(self._state_folder, job, job.attempt):
                file = File(job.id, job.attempt, path)
                # One that comes back, because its node was away for a moment, keeps its marks.
                current[file] = (
                    self._watched.get(file)
                    or self._ended.pop(file, None)
                    or _Watched(began=now, due=now, node=booking.node, is_capped=self._may_be_cut(job))
                )
        for file, watched in self._watched.items():
            if file not in current:
                self._ended[file] = watched
        while len(self._ended) > MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        self._watched = current

    def _may_be_cut(self, job: Job) -> bool:
        """False if the file may hold what this attempt did not write: that must not be removed."""
        is_own = job.spec.stdout is None and job.spec.stderr is None
        return is_own or (not job.spec.append and job.attempt == 1)

    async def _ask(self, file: File, watched: _Watched) -> None:
        limit = self.limit if watched.is_capped else 0
        question: ReadLogFrame = {"type": "read_log", "path": file.path, "offset": 0, "limit": 0}
        if limit:
            question["cap"] = limit
        began = monotonic()
        try:
            answer = await self._fleet.ask(watched.node, question)
        except Refused:
            answer = {}
        finally:
            watched.is_asked = False
            watched.due = monotonic() + FIRST_S  # also after a failure
        now = monotonic()
        size = int(answer.get("size", watched.size))
        rate = max(0, size - watched.size) / max(began - watched.looked_at, SOONEST_S) if watched.looked_at else size
        watched.size, watched.looked_at = size, began
        if "size" in answer:
            watched.note(self._engine.now(), size)
        watched.due = now + _again_after_s(now - watched.began, rate, limit)


def _again_after_s(elapsed_s: float, rate: float, limit: int) -> float:
    """`rate`: bytes per second. A cap is looked at before a quarter of it is written."""
    calm_s = min(max(AGAIN_AFTER_PART * elapsed_s, FIRST_S), AGAIN_AFTER_MOST_S)
    if not limit:
        return calm_s
    return max(SOONEST_S, min(calm_s, AGAIN_CAPPED_S, limit / 4 / max(rate, 1.0)))
