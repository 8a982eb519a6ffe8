"""A file system that never answers, below the logs or the working directory of jobs: nobody else is affected."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, until
from tests.hung_mount import hung
from tests.services import need

OTHERS_S = 15.0  # they take a fraction of a second; without the fix, they hang for good
READER_S = 20.0


@pytest.fixture
def nfs(tmp_path: Path) -> Path:
    need("root")
    folder = tmp_path / "nfs"
    folder.mkdir()
    return folder


@pytest.fixture
def busy(home: Home, nfs: Path) -> Iterator[Home]:
    """Job 1 writes its log to a file system that then hangs; job 2 does not."""
    home.add("-g", "0", "--log", str(nfs / "log"), "-c", "echo 1; sleep 300")
    home.add("-g", "0", "-c", "echo 2; sleep 300")
    assert until(lambda: "1" in home.tarmac("log", "1").stdout and "2" in home.tarmac("log", "2").stdout)
    with hung(nfs):
        yield home
        home.tarmac("kill", "all", "--grace", "0")


def others(home: Home, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    began = time.monotonic()
    done = home.tarmac(*words, timeout_s=READER_S)
    assert time.monotonic() - began < OTHERS_S, words
    assert done.returncode == code, done.stderr
    return done


def check_others(home: Home) -> None:
    assert others(home, "log", "2").stdout == "2\n"
    for words in (["ls"], ["show", "1"], ["show", "2"], ["gpus"], ["status"], ["why", "1"], ["doctor"], ["queue"]):
        others(home, *words, code=0)
    job = others(home, "add", "-g", "0", "--", "true").stdout.strip()
    others(home, "wait", job)


def test_a_log_that_hangs_is_reported_to_its_reader_only(busy: Home) -> None:
    readers = [busy.start("log", *words, "1") for words in ((), ("-f",), ("-n", "3"))]
    readers += [busy.start("log", "1") for _ in range(6)]
    check_others(busy)
    for reader in readers:
        _, stderr = reader.communicate(timeout=READER_S)
        assert reader.returncode == 5
        assert b"nfs does not answer" in stderr
    check_others(busy)


def test_a_follower_is_told_when_its_log_hangs(home: Home, nfs: Path) -> None:
    home.add("-g", "0", "--log", str(nfs / "log"), "-c", "echo 1; sleep 300")
    assert until(lambda: "1" in home.tarmac("log", "1").stdout)
    follower = home.start("log", "-f", "1")
    assert follower.stdout is not None
    assert follower.stdout.read(1) == b"1"
    with hung(nfs):
        home.tarmac("kill", "1", "--grace", "0")  # wakes the follower
        _, stderr = follower.communicate(timeout=READER_S)
        assert b"nfs does not answer" in stderr
    home.tarmac("wait", "1")


def test_jobs_whose_log_hangs_are_killed_and_removed(busy: Home) -> None:
    others(busy, "kill", "1", "--grace", "0")
    others(busy, "wait", "1", code=137)
    others(busy, "rm", "1")
    assert "job 1" in others(busy, "log", "1", code=3).stderr


def test_jobs_that_start_there_wait_alone(busy: Home, nfs: Path, tmp_path: Path) -> None:
    in_it = others(busy, "add", "-g", "0", "--cwd", str(nfs), "--", "true").stdout.strip()
    logs_to_it = others(busy, "add", "-g", "0", "--log", str(nfs / "new"), "--", "true").stdout.strip()
    runs_it = others(busy, "add", "-g", "0", "--", str(nfs / "program")).stdout.strip()
    check_others(busy)
    for job in (in_it, logs_to_it, runs_it):
        assert json.loads(others(busy, "ls", "--json", job).stdout)[0]["state"] == "starting"
        for verb in ("show", "why"):
            shown = "".join(others(busy, verb, job).stdout.split())
            assert f"waitsfor{nfs}" in shown
            assert "doesnotanswer" in shown
        others(busy, "kill", job, "--grace", "0")
        assert json.loads(others(busy, "ls", "--json", job).stdout)[0]["state"] in {"stopping", "cancelled"}
    check_others(busy)


def test_stop_and_a_restart_do_not_wait_for_it(busy: Home, nfs: Path) -> None:
    others(busy, "add", "-g", "0", "--cwd", str(nfs), "--", "true")
    readers = [busy.start("log", "1") for _ in range(3)]
    others(busy, "stop")
    for reader in readers:
        reader.kill()
        reader.communicate()
    assert others(busy, "ls").returncode == 0
    check_others(busy)


def test_the_agent_is_replaced_while_it_hangs(busy: Home) -> None:
    reader = busy.start("log", "1")
    agent = busy.pid_of("agent")
    os.kill(agent, signal.SIGKILL)
    assert until(lambda: busy.client().status()["agent_pid"] not in {None, agent})
    check_others(busy)
    reader.kill()
    reader.communicate()


def test_a_job_that_fails_on_it_ends_without_an_explanation(home: Home, nfs: Path, tmp_path: Path) -> None:
    """Its GPUs are free after a moment, and the next failures are still explained."""
    script = f"echo 1; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; exit 3"
    job = home.add("-g", "1", "--log", str(nfs / "log"), "-c", script)
    assert until(lambda: "1" in home.tarmac("log", str(job)).stdout)
    with hung(nfs):
        (tmp_path / "go").touch()
        assert until(lambda: home.client().job(job).state == "failed", OTHERS_S)
        found = home.client().job(job)
        assert (found.reason, found.exit_code, found.error_line) == ("exit", 3, None)
        other = home.add("-g", "0", "-c", "echo 'error: no data'; exit 1")
        assert until(lambda: home.client().job(other).state == "failed", OTHERS_S)
        assert home.client().job(other).error_line == "error: no data"
