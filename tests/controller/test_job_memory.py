"""Readings of host memory that are remembered for running attempts."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from tarmac.controller.job_memory import MOST_ATTEMPTS, STILL_READ_S, JobMemory
from tarmac.core.model.ids import NodeName
from tarmac.core.model.status import Queued


class Machine:
    """An engine and a fleet whose node answers with one reading of every running job."""

    def __init__(self) -> None:
        self.time_s = 1000.0
        self.running: list[int] = []
        self.state = SimpleNamespace(
            jobs={number: SimpleNamespace(attempt=1, status=Queued()) for number in range(2000)}
        )

    def now(self) -> float:
        return self.time_s

    async def ask(self, *_: object) -> dict[str, Any]:
        return {"taken": [{"job": number, "attempt": 1, "bytes": 5} for number in self.running]}

    def read(self, memory: JobMemory, *jobs: int) -> None:
        self.running = list(jobs)
        self.time_s += 10
        asyncio.run(memory._ask(NodeName("")))


def test_more_running_attempts_than_are_remembered_do_not_reset_each_other() -> None:
    machine: Any = Machine()
    memory = JobMemory(machine, machine)
    for _ in range(3):
        machine.read(memory, *range(MOST_ATTEMPTS + 100))
    assert [len(memory.of(number, 1)) for number in (0, MOST_ATTEMPTS - 1, MOST_ATTEMPTS)] == [3, 3, 0]
    assert len(memory.minute(machine.time_s)) == MOST_ATTEMPTS + 100


def test_attempts_that_ended_make_room_and_the_longest_running_one_stays() -> None:
    machine: Any = Machine()
    memory = JobMemory(machine, machine)
    machine.read(memory, *range(MOST_ATTEMPTS))
    machine.time_s += STILL_READ_S
    machine.read(memory, 0)
    machine.read(memory, 0, MOST_ATTEMPTS)
    assert [len(memory.of(number, 1)) for number in (0, 1, 2, MOST_ATTEMPTS)] == [3, 0, 1, 1]
