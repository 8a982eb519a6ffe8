"""Kills by the kernel for lack of memory: counted by a cgroup, named in the kernel's log, or only counted somewhere."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tarmac.agent.outcome.memory_kills import Counts, Ending, counting_cgroup, find_kill, take_counts

LEAF = "/sys/fs/cgroup/unified/tarmac-1234/s-7"
CASE = (
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/user.slice,"
    "task_memcg=/{},task=python,pid={},uid=1000"
)
KILL = "Memory cgroup out of memory: Killed process {} (python) total-vm:9812344kB, anon-rss:8123456kB, file-rss:0kB"
OLD_KILL = "Out of memory: Kill process {} (python) score 912 or sacrifice child"


class Kernel:
    """Files in the form of the kernel's."""

    def __init__(self, path: Path) -> None:
        self.log, self.vmstat = path / "kmsg", path / "vmstat"
        self.log.touch()
        self.count(0)

    def count(self, kills: int) -> None:
        self.vmstat.write_text(f"nr_free_pages 12\noom_kill {kills}\nnuma_hit 3\n")

    def say(self, text: str, at: float | None = None) -> None:
        micro = int((time.monotonic() if at is None else at) * 1e6)
        with self.log.open("a") as file:
            file.write(f"6,812,{micro},-;{text}\n SUBSYSTEM=memory\n")

    def find(self, before: Counts, pid: int = 41, leaf: str | None = LEAF, *, is_killed: bool = False) -> str | None:
        return find_kill(before, Ending(pid, leaf, is_killed), str(self.log), str(self.vmstat))


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path)


def counts(cgroup: str | None = None, in_machine: int | None = 0) -> Counts:
    return Counts(cgroup, 0, in_machine, time.monotonic() - 60)


@pytest.mark.parametrize("words", [KILL, OLD_KILL])
def test_the_kernels_log_names_the_command(kernel: Kernel, words: str) -> None:
    kernel.count(1)
    kernel.say(words.format(41))
    assert kernel.find(counts()) == words.format(41)
    assert kernel.find(counts(), pid=42) is None


def test_the_kernels_log_names_the_cgroup_of_another_process_of_the_job(kernel: Kernel) -> None:
    kernel.count(1)
    kernel.say(CASE.format("tarmac-1234/s-7", 77))
    kernel.say(KILL.format(77))
    assert kernel.find(counts()) == KILL.format(77)
    assert kernel.find(counts(), leaf="/sys/fs/cgroup/unified/tarmac-1234/s-8") is None


def test_kills_before_the_start_do_not_count(kernel: Kernel) -> None:
    kernel.count(1)
    kernel.say(KILL.format(41), at=time.monotonic() - 3600)
    assert kernel.find(counts()) is None


def test_the_log_is_not_read_if_no_process_was_killed(kernel: Kernel) -> None:
    kernel.say(KILL.format(41))
    assert kernel.find(counts()) is None


def test_a_kill_just_before_the_end_counts_for_a_script_whose_command_was_killed(kernel: Kernel) -> None:
    kernel.count(1)
    kernel.say(KILL.format(99))
    assert kernel.find(counts(), leaf=None, is_killed=True) == KILL.format(99)
    assert kernel.find(counts(), leaf=None) is None


def test_an_unreadable_log_leaves_the_count(kernel: Kernel) -> None:
    kernel.count(2)
    kernel.log.unlink()
    found = kernel.find(counts(), is_killed=True)
    assert found is not None
    assert "killed 2 processes for lack of memory" in found
    assert kernel.find(counts()) is None, "it was not killed"


def test_the_cgroup_of_the_job_counts_its_own_kills(kernel: Kernel, tmp_path: Path) -> None:
    leaf = tmp_path / "unified" / "tarmac-1234" / "s-7"
    leaf.mkdir(parents=True)
    (leaf / "memory.events").write_text("low 0\noom 1\noom_kill 0\n")
    before = take_counts(str(leaf))
    assert kernel.find(before, leaf=str(leaf)) is None
    (leaf / "memory.events").write_text("low 0\noom 1\noom_kill 1\noom_group_kill 0\n")
    found = kernel.find(before, leaf=str(leaf))
    assert found is not None
    assert f"{leaf}/memory.events" in found


def test_a_cgroup_around_the_job_counts_if_the_log_names_nothing(kernel: Kernel, tmp_path: Path) -> None:
    """A container: its log, if it has one, has other pids."""
    around = tmp_path / "unified"
    leaf = around / "tarmac-1234" / "s-7"
    leaf.mkdir(parents=True)
    (around / "memory.events").write_text("oom_kill 3\n")
    assert counting_cgroup(str(leaf)) == str(around)
    before = take_counts(str(leaf))
    (around / "memory.events").write_text("oom_kill 4\n")
    assert kernel.find(before, leaf=str(leaf), is_killed=True) is not None
    assert kernel.find(before, leaf=str(leaf)) is None


MEMORY = Path("/sys/fs/cgroup/memory")


@pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="needs a memory cgroup that can be written")
def test_a_real_kill_is_found_in_the_real_log() -> None:
    group = MEMORY / f"tarmac-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(48 << 20))
        before = take_counts(None)
        program = f"open('{group}/cgroup.procs', 'w').write('0')\nx = bytearray(300 << 20)"
        child = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
        assert child.wait(60) == -9
        found = find_kill(before, Ending(child.pid, None, True))
        assert found is not None
        assert f"Killed process {child.pid} " in found or "lack of memory" in found
    finally:
        group.rmdir()
