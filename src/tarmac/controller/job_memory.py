"""How much host memory running attempts take: every reading of the last hour, and the most of each minute on disk.

Nodes are asked while jobs run, with the tick of the GPU readings, so that an idle machine stays asleep.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.model.status import holds_booking
from tarmac.refusal import Refused
from tarmac.store.batch import MemorySample

if TYPE_CHECKING:
    from tarmac.controller.engine.engine import Engine
    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.fleet import Fleet

AGAIN_S = 9.0  # about every second tick
MINUTE_S = 60
RING = 360  # readings of an attempt
MOST_ATTEMPTS = 500  # whose readings are remembered
STILL_READ_S = 60.0  # an attempt without a reading for that long has ended


class Reading(NamedTuple):
    at: float
    bytes: int


class _Key(NamedTuple):
    job: int
    attempt: int


class JobMemory:
    def __init__(self, engine: Engine, fleet: Fleet) -> None:
        self._engine = engine
        self._fleet = fleet
        self._rings: dict[_Key, deque[Reading]] = {}
        self._most: dict[_Key, int] = {}  # since the last minute
        self._asked_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, job: int, attempt: int) -> list[Reading]:
        """The readings that are still in memory, oldest first."""
        return list(self._rings.get(_Key(job, attempt), ()))

    def latest(self, job: int, attempt: int) -> int | None:
        ring = self._rings.get(_Key(job, attempt))
        return ring[-1].bytes if ring else None

    def look(self) -> None:
        """Ask the nodes on which jobs run, if that was some time ago."""
        if self._tasks or monotonic() - self._asked_at < AGAIN_S:
            return
        self._asked_at = monotonic()
        for node in self._engine.state.nodes.values():
            if node.host and node.is_connected:
                task = asyncio.get_running_loop().create_task(self._ask(node.name))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _ask(self, node: NodeName) -> None:
        try:
            answer = await self._fleet.ask(node, {"type": "job_memory"})
        except Refused:
            return
        now = self._engine.now()
        for one in answer.get("taken", ()):  # an older agent does not know the question
            self._note(_Key(one["job"], one["attempt"]), Reading(now, one["bytes"]), node)

    def _note(self, key: _Key, reading: Reading, node: NodeName) -> None:
        """Of a job on several nodes, the chart shows the first, and the peak is that of the node that took the most."""
        job = self._engine.state.jobs.get(key.job)  # type: ignore[call-overload]
        if job is None or job.attempt != key.attempt:
            return
        self._most[key] = max(self._most.get(key, 0), reading.bytes)
        booking = holds_booking(job.status)
        if booking is not None and booking.node != node:
            return
        ring = self._rings.pop(key, None)
        if ring is None and self._has_room(reading.at):
            ring = deque(maxlen=RING)
        if ring is not None:
            ring.append(reading)
            self._rings[key] = ring  # at the end, so that those of ended attempts come first

    def _has_room(self, now: float) -> bool:
        """Forgets an attempt that has ended, if needed. One that still runs is not forgotten for another."""
        if len(self._rings) < MOST_ATTEMPTS:
            return True
        oldest = next(iter(self._rings))
        if now - self._rings[oldest][-1].at < STILL_READ_S:
            return False
        del self._rings[oldest]
        return True

    def minute(self, now: float) -> list[MemorySample]:
        """One row for each attempt that was read since the last call."""
        at = int(now) // MINUTE_S * MINUTE_S
        most, self._most = self._most, {}
        return [MemorySample(job=key.job, attempt=key.attempt, at=at, bytes=taken) for key, taken in most.items()]
