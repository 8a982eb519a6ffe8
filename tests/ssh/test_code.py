"""The code of jobs on nodes over SSH: it travels over the link."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.home import Home, homes, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ssh.lab import Lab

LARGE = 24 << 20


@pytest.fixture
def home(lab: Lab, tmp_path: Path) -> Iterator[Home]:
    """A queue without GPUs on this machine, so that jobs with GPUs run on nodes."""
    for made in homes(tmp_path / "home", gpus="0"):
        made.environment = {**lab.environment, **made.environment, "PATH": lab.environment["PATH"]}
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / "sub").mkdir(parents=True)
    (path / "train.sh").write_text("cat sub/data; cksum < large; pwd; touch made\n")
    (path / "sub" / "data").write_text("frozen\n")
    (path / "large").write_bytes(b"")
    return path


def test_frozen_code_runs_on_a_node_without_the_directory(lab: Lab, home: Home, project: Path) -> None:
    lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    (project / "large").write_bytes(os.urandom(3 << 20))
    job = home.add("--snapshot", "--cwd", str(project), "--", "sh", "train.sh")
    (project / "sub" / "data").write_text("changed\n")
    (ended,) = home.client().wait(job, timeout_s=60)
    log = home.tarmac("log", str(job)).stdout.splitlines()
    assert ended.state == "succeeded", (home.tarmac("show", str(job)).stdout, log)
    assert log[0] == "frozen"
    assert log[1].endswith(f" {3 << 20}")
    assert f"/checkouts/{job}/project" in log[2]
    assert lab.ssh("gpu02", "test", "-e", f"{log[2]}/made").returncode == 0
    missing = home.tarmac("add", "--link", "sub", "--cwd", str(project), "--", "true")
    assert missing.returncode == 0, missing.stderr  # no node has it, so an earlier job may make it
    (ended,) = home.client().wait(int(missing.stdout), timeout_s=60)
    assert ended.reason == "launch"
    assert f"{project}/sub does not exist on this node (--link)" in home.tarmac("show", missing.stdout.strip()).stdout


def test_a_cut_and_a_killed_controller_in_the_middle_lose_nothing(lab: Lab, home: Home, project: Path) -> None:
    host = lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    (project / "large").write_bytes(os.urandom(LARGE))
    job = home.add("--snapshot", "--cwd", str(project), "--", "sh", "train.sh")

    def copied() -> bool:
        return "its code is being copied to gpu02" in home.tarmac("why", str(job)).stdout

    assert until(copied), home.tarmac("show", str(job)).stdout
    assert home.client().job(job).state == "starting"
    host.cut()
    os.kill(home.pid_of("controller"), 9)
    host.heal()
    assert home.tarmac("status").returncode == 0
    (ended,) = home.client().wait(job, timeout_s=120)
    assert (ended.state, ended.attempt) == ("succeeded", 1), home.tarmac("show", str(job)).stdout
    log = home.tarmac("log", str(job)).stdout
    assert log.count("frozen") == 1
    assert f" {LARGE}\n" in log


def test_a_job_is_stopped_while_its_code_travels(lab: Lab, home: Home, project: Path) -> None:
    lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    (project / "large").write_bytes(os.urandom(LARGE))
    job = home.add("--snapshot", "--cwd", str(project), "--", "sh", "train.sh")
    assert until(lambda: "its code is being copied" in home.tarmac("why", str(job)).stdout)
    assert home.tarmac("kill", str(job)).returncode == 0
    (ended,) = home.client().wait(job, timeout_s=60)
    assert ended.state == "cancelled"
    assert home.tarmac("retry", str(job)).returncode == 0
    (ended,) = home.client().wait(job, timeout_s=60)
    assert ended.state == "succeeded", home.tarmac("show", str(job)).stdout
