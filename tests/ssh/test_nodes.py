"""Nodes over SSH: real sshd, one queue."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.home import Home, homes, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client import Job
    from tests.ssh.lab import Lab


@pytest.fixture
def home(lab: Lab, tmp_path: Path) -> Iterator[Home]:
    """A queue without GPUs on this machine, so that jobs with GPUs run on nodes."""
    for made in homes(tmp_path / "home", gpus="0"):
        made.environment = {**lab.environment, **made.environment, "PATH": lab.environment["PATH"]}
        yield made


def add_node(home: Home, *words: str) -> None:
    done = home.tarmac("node", "add", *words)
    assert done.returncode == 0, done.stderr


def running(home: Home, job: int) -> Job:
    assert until(lambda: home.client().job(job).state == "running"), home.tarmac("show", str(job)).stdout
    return home.client().job(job)


def test_a_machine_joins_the_queue_and_runs_a_job(lab: Lab, home: Home) -> None:
    host = lab.host("gpu02")
    done = home.tarmac("node", "add", "gpu02")
    assert done.returncode == 0, done.stderr
    assert until(lambda: [gpu.node for gpu in home.client().gpus()] == ["gpu02"] * 2)
    job = home.add("--cwd", str(host.home()), "--", "sh", "-c", "echo $(hostname) $HOME $PWD $TARMAC_NODE; exit 7")
    (ended,) = home.client().wait(job, timeout_s=60)
    assert (ended.state, ended.exit_code, ended.node) == ("failed", 7, "gpu02")
    folder = host.home()
    assert home.tarmac("log", str(job)).stdout == f"gpu02 {folder} {folder} gpu02\n"


def test_logs_stay_on_the_node_and_go_with_their_jobs(lab: Lab, home: Home) -> None:
    host = lab.host("gpu02")
    add_node(home, "gpu02")
    kept, removed = (home.add("--cwd", "/", "echo", word) for word in ("kept", "removed"))
    home.client().wait([kept, removed], timeout_s=60)
    path = Path(home.client().job(kept).log_path)
    assert path.read_text() == "kept\n"
    assert path.is_relative_to(host.home())
    assert home.tarmac("rm", str(removed)).returncode == 0
    assert until(lambda: os.listdir(path.parent) == [path.name])
    assert not list((home.path / "logs").iterdir())
