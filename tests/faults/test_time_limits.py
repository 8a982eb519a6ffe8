"""A job's time limit holds regardless of which Tarmac processes are alive."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.world import World, eventually

# Ignores TERM, and so does its child in a separate session. Each prints its pid.
STUBBORN = """
trap '' TERM
setsid bash -c "trap '' TERM; echo \\$\\$ >> {pids}; while :; do sleep 0.05; done" &
echo $$ >> {pids}
while :; do sleep 0.05; done
"""
LIMIT_S = 3.0


class Stubborn:
    """A job that only KILL ends."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._file = world.folder / "pids"

    def start(self) -> int:
        command = ["bash", "-c", STUBBORN.format(pids=self._file)]
        request = {"command": command, "cwd": "/", "gpus": 1, "time_limit_s": LIMIT_S, "grace_s": 0.2}
        (job,) = self._world.submit([request])
        eventually(lambda: len(self.pids()) == 2, "both processes run")
        return job

    def pids(self) -> list[int]:
        return [int(pid) for pid in self._file.read_text().split()] if self._file.exists() else []

    def left(self) -> list[int]:
        return [pid for pid in self.pids() if is_there(pid)]


@pytest.fixture
def stubborn(world: World) -> Iterator[Stubborn]:
    stubborn = Stubborn(world)
    yield stubborn
    for pid in stubborn.left():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def expect_timed_out(world: World, job: int) -> None:
    eventually(lambda: world.state(job) == "failed", "the job has failed")
    told = world.job(job)
    assert (told["reason"], told["signal"]) == ("timeout", 9)


def test_a_time_limit_holds_with_all_of_tarmac_alive(world: World, stubborn: Stubborn) -> None:
    world.wake()
    job = stubborn.start()
    expect_timed_out(world, job)
    assert not stubborn.left()


def test_a_time_limit_holds_while_controller_and_agent_are_dead(world: World, stubborn: Stubborn) -> None:
    world.wake()
    job = stubborn.start()
    world.kill_all("controller", "agent")
    assert stubborn.left()
    eventually(lambda: not stubborn.left(), "nothing of the job is left")
    assert not world.seen("controller")
    assert not world.seen("agent")
    expect_timed_out(world, job)
