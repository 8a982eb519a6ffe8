"""The state directory on a real full disk: no job is accepted, running jobs are unharmed, and service recovers."""

import os
import subprocess
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from tarmac.shared.clocks import epoch
from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually
from tests.home import Home, is_connected
from tests.services import need

DISK_BYTES = 6 * 1024 * 1024


class Disk:
    """A small file system with the state directory; the witness file is elsewhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"
        self.full_spans: list[list[float]] = []

    def fill(self) -> None:
        """Fill the disk to the last byte."""
        self.full_spans.append([time.time(), inf])
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
        self.full_spans[-1][1] = time.time()


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
    world = World(Home(disk.path / "home", "4"), witness, full_spans=disk.full_spans)
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


def has_ended(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


def fill_and_notice(world: World, disk: Disk) -> None:
    disk.fill()
    assert world.home.tarmac("add", "true").returncode == 5


def test_the_first_kill_stops_a_job_and_it_ends_cancelled(world: World, disk: Disk) -> None:
    world.hold()
    (job,) = world.run(1)
    (waiting,) = world.run(1, gpus=4)
    eventually(lambda: world.state(job) == "running", "the job runs")
    pid = world.pid_of(job)
    disk.fill()
    killed = world.home.tarmac("kill", str(job))
    assert killed.returncode == 0, killed.stderr
    assert "once the state can be written" in killed.stderr
    eventually(lambda: has_ended(pid), "the job has ended, although nothing can be written")
    refused = world.home.tarmac("kill", str(waiting))
    assert refused.returncode == 5, "a waiting job cannot be cancelled without writing"
    disk.make_room()
    eventually(lambda: world.state(job) == "cancelled", "it ends as it was asked to")
    world.stopped.add(job)
    world.let_go()
    world.wait_for_all()


def test_a_kill_on_a_full_disk_counts_after_a_restart_of_the_controller(world: World, disk: Disk) -> None:
    world.hold()
    (job,) = world.run(1)
    eventually(lambda: world.state(job) == "running", "the job runs")
    pid = world.pid_of(job)
    disk.fill()
    assert world.home.tarmac("kill", str(job)).returncode == 0
    eventually(lambda: has_ended(pid), "the job has ended")
    world.kill_all("controller")
    disk.make_room()
    world.wake()
    eventually(lambda: world.state(job) == "cancelled", "its node says that it was asked to stop")
    world.stopped.add(job)
    world.let_go()


def test_a_job_that_ended_before_the_kill_keeps_its_own_outcome(world: World, disk: Disk) -> None:
    world.hold()
    (job,) = world.run(1)
    eventually(lambda: world.state(job) == "running", "the job runs")
    pid = world.pid_of(job)
    fill_and_notice(world, disk)
    world.let_go()
    eventually(lambda: has_ended(pid), "the job has ended by itself")
    world.home.tarmac("kill", str(job))
    disk.make_room()
    # If the disk was full before its start was committed, it is "starting" once more.
    eventually(lambda: world.state(job) not in {"starting", "running", "stopping"}, "its end is known")
    assert world.state(job) == "succeeded", "it was not cancelled"


def test_states_are_marked_as_stale_and_the_exit_has_its_own_time(world: World, disk: Disk) -> None:
    world.hold()
    (job,) = world.run(1)
    eventually(lambda: world.state(job) == "running", "the job runs")
    pid = world.pid_of(job)
    fill_and_notice(world, disk)
    world.let_go()
    eventually(lambda: has_ended(pid), "the job has ended")
    over_at = time.time()
    listed = world.home.tarmac("ls")
    assert "running, stale" in listed.stdout
    assert "full" in listed.stderr
    with world.home.client() as client:
        client.on_trouble = None
        shown, status = client.job(job), client.status()
        assert shown.stale_s is not None
        assert "full" in str(shown.stale_reason)
        assert "full" in str(status["degraded"])
        assert status["degraded_since"] is not None
    assert "stale" in world.home.tarmac("show", str(job)).stdout
    removed = world.home.tarmac("rm", str(job))
    assert f"the state of job {job} is stale" in removed.stderr
    assert "tarmac kill" not in removed.stderr
    disk.make_room()
    eventually(lambda: world.state(job) == "succeeded", "service returns")
    with world.home.client() as client:
        ended = client.job(job)
        assert ended.stale_s is None
        assert ended.ended_at is not None
        assert ended.ended_at.timestamp() <= over_at
        (told,) = [event for event in client.story(job) if event["kind"] == "JobExited"]
        assert epoch(told["at"]) <= over_at
        assert client.status()["degraded_since"] is None


@pytest.mark.parametrize("verb", ["wait", "run"])
def test_who_waits_on_a_full_disk_says_why(world: World, disk: Disk, tmp_path: Path, verb: str) -> None:
    go = tmp_path / "go"
    command = ["-g", "0", "-c", f"while [ ! -e {go} ]; do sleep 0.01; done"]
    if verb == "wait":
        world.home.add(*command)
        waiting = world.home.start("wait", "1")
    else:
        waiting = world.home.start("run", *command)
    eventually(lambda: [job.state for job in world.home.client().jobs()] == ["running"], "the job runs")
    eventually(lambda: is_connected(waiting.pid), "the command waits")
    fill_and_notice(world, disk)
    go.touch()
    assert waiting.stderr is not None
    said = waiting.stderr.readline()
    assert b"waiting:" in said
    assert b"full" in said
    disk.make_room()
    assert waiting.wait(60) == 0
    waiting.communicate()


def test_the_agent_and_its_jobs_outlive_the_controller_on_a_full_disk(world: World, disk: Disk) -> None:
    world.hold()
    (job,) = world.run(1)
    eventually(lambda: world.state(job) == "running", "the job runs")
    agent = world.home.pid_of("agent")
    fill_and_notice(world, disk)
    assert world.home.tarmac("stop", "--keep-agent").returncode == 0
    assert os.path.exists(f"/proc/{agent}")
    disk.make_room()
    world.wake()
    assert world.home.pid_of("agent") == agent
    world.let_go()
    world.wait_for_all()
    expect_all_well(world)


def test_a_job_that_failed_on_a_full_disk_says_so(world: World, disk: Disk) -> None:
    full = world.home.add("-g", "0", "-c", f"cat /dev/zero > {disk.path}/zeros; exit 3")
    eventually(lambda: has_exit_record(world, full), "the job has filled the disk, and its end is recorded")
    assert os.statvfs(disk.path).f_bavail == 0
    (disk.path / "zeros").unlink()
    eventually(lambda: world.state(full) == "failed", "its end is known")
    assert world.home.client().job(full).reason == "disk-full"
    shown = world.home.tarmac("show", str(full)).stdout
    assert "failed (disk-full)" in shown
    assert "the disk of its log was full when it ended" in shown
    assert "df -h" in shown
    later = world.home.add("-g", "0", "-c", "exit 3")
    eventually(lambda: world.state(later) == "failed", "another job fails")
    assert "the disk" not in world.home.tarmac("show", str(later)).stdout


def has_exit_record(world: World, job: int) -> bool:
    """True also if the controller has committed the end already, so that the record is no longer needed."""
    record = world.home.path / f"agent/runs/{job}.1/exit.json"
    try:
        is_written = bool(record.read_bytes().strip())
    except FileNotFoundError:
        is_written = False
    return is_written or world.state(job) == "failed"
