"""What `tarmac show` says about how a job ended, when that is not the usual way."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.home import Home, until


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


def shown(home: Home, job: int) -> str:
    done = home.tarmac("show", str(job))
    assert done.returncode == 0, done.stderr
    return done.stdout


def kill_shim(home: Home, job: int) -> int:
    """Kill the shim of a running job; returns the pid of the job, which runs on."""
    running = until(lambda: (found := home.client().job(job)).state == "running" and found)
    assert running
    os.kill(int(Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
    assert until(lambda: home.client().job(job).state == "unknown")
    return int(running.pid)


@pytest.mark.parametrize("stop", [False, True], ids=["it ended", "it was killed"])
def test_show_names_the_processes_that_a_job_left_behind(home: Home, tmp_path: Path, stop: bool) -> None:
    stubborn = "trap '' TERM; touch ready; while :; do sleep 0.01; done"
    script = f'(exec -a loader bash -c "{stubborn}") & ' + ("wait" if stop else "while [ ! -e ready ]; do :; done")
    job = home.add("--cwd", str(tmp_path), "--grace", "1s", "-c", script)
    assert until((tmp_path / "ready").exists)
    if stop:
        assert home.tarmac("kill", str(job)).returncode == 0
    home.client().wait(job, timeout_s=60)
    text = " ".join(shown(home, job).split())
    assert "ended by Tarmac: loader -c" in text
    assert text.count("left behind") == 2, "among the facts, and in the history"
    left = json.loads(home.tarmac("show", str(job), "--json").stdout)[0]["leftovers"]
    assert left["count"] >= 1
    assert left["processes"][0]["command"].startswith("loader -c")
    assert home.client().job(job).leftovers == left


def test_show_of_an_ordinary_job_says_nothing_about_leftovers(home: Home) -> None:
    job = home.add("true")
    home.client().wait(job, timeout_s=60)
    assert "left behind" not in shown(home, job)
    assert json.loads(home.tarmac("show", str(job), "--json").stdout)[0]["leftovers"] is None


def test_a_killed_shim_and_a_job_that_runs_on(home: Home, tmp_path: Path) -> None:
    job = home.add("-c", f"touch {tmp_path}/ready; exec sleep 1000")
    assert until((tmp_path / "ready").exists)
    pid = kill_shim(home, job)
    text = shown(home, job)
    assert "its shim was killed, but the job still runs: Tarmac watches its processes" in text
    assert "its exit code will not be known" in text
    os.kill(pid, signal.SIGKILL)
    home.client().wait(job, timeout_s=60)
    message, history = shown(home, job).split("History")
    assert "all its processes have ended" in message
    assert "still runs" not in message
    assert "still runs" in history
    assert "processes ended" in history
