"""The state directory on a real full disk: no job is accepted, running jobs are unharmed, and service recovers."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually
from tests.home import Home
from tests.services import need

DISK_BYTES = 6 * 1024 * 1024


class Disk:
    """A small file system with the state directory; the witness file is elsewhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Fill the disk to the last byte."""
        with open(self._filler, "ab", buffering=0) as file:
            for size in (65536, 4096, 512, 1):
                while self._add(file.fileno(), size):
                    pass

    def _add(self, descriptor: int, size: int) -> bool:
        try:
            return os.write(descriptor, b"x" * size) > 0
        except OSError:
            return False

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    need("root")
    path = tmp_path / "disk"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tarmac-test", path], check=True)
    yield Disk(path)
    subprocess.run(["umount", "-l", path], check=True)


@pytest.fixture
def world(disk: Disk, witness: Path) -> Iterator[World]:
    (disk.path.parent / "home-witness").mkdir()
    (disk.path / "home-witness").symlink_to(disk.path.parent / "home-witness")
    world = World(Home(disk.path / "home", "4"), witness)
    world.wake()
    yield world
    world.end()


def test_a_submit_is_refused_and_running_jobs_end_with_their_own_code(world: World, disk: Disk) -> None:
    world.hold()
    jobs = world.run(3)
    eventually(lambda: all(world.state(job) == "running" for job in jobs), "the jobs run")
    before = world.seen("controller") + world.seen("agent")
    disk.fill()
    refused = world.home.tarmac("add", "true")
    assert refused.returncode == 5, refused.stderr
    assert "full" in refused.stderr
    assert "free disk space" in refused.stderr
    assert not refused.stdout
    world.let_go()
    eventually(lambda: len([line for line in world.lines() if line[3] == "end"]) == 3, "the jobs have ended")
    assert world.home.tarmac("ls").returncode == 0, "what is known can still be asked"
    disk.make_room()
    world.wait_for_all()
    expect_all_well(world)
    world.run(2)
    expect_all_well(world)
    assert world.seen("controller") + world.seen("agent") == before, "nobody had to start anything anew"


def test_a_waiting_job_says_that_nothing_can_be_written(world: World, disk: Disk) -> None:
    world.hold()
    world.run(1, gpus=4)
    (waiting,) = world.run(1, gpus=4)
    disk.fill()
    assert world.home.tarmac("add", "true").returncode == 5
    told = world.home.tarmac("why", str(waiting)).stdout
    assert "nothing can be written, and nothing starts until it can: the state could not be written" in told
    assert "not connected" not in told
    with world.home.client() as client:
        client.on_trouble = None
        whole = client.call("GET", f"/jobs/{waiting}")
        assert whole["reason"] == client.why(waiting)["reasons"][0]["text"]
        assert whole["reason"] in whole["why"]
    disk.make_room()
    eventually(lambda: "nothing starts" not in world.home.tarmac("why", str(waiting)).stdout, "service returns")
    world.let_go()
    world.wait_for_all()


def test_everything_is_recovered_after_all_died_on_a_full_disk(world: World, disk: Disk) -> None:
    world.hold()
    jobs = world.run(3)
    waiting = world.run(2, gpus=4)
    eventually(lambda: all(world.state(job) == "running" for job in jobs), "the jobs run")
    disk.fill()
    world.kill_all("controller", "agent")
    started = world.home.tarmac("status")
    assert started.returncode in {0, 5}, started.stderr
    assert "Traceback" not in started.stderr
    world.let_go()
    eventually(lambda: len([line for line in world.lines() if line[3] == "end"]) >= 3, "the jobs have ended")
    disk.make_room()
    world.wake()
    expect_all_well(world)
    assert sorted(world.started()) == sorted(jobs + waiting)
