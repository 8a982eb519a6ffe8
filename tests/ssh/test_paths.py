"""Directories that are not on every node: jobs run where their files are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.home import Home, homes, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ssh.lab import Lab


@pytest.fixture
def home(lab: Lab, tmp_path: Path) -> Iterator[Home]:
    """A queue without GPUs on this machine, so that jobs with GPUs run on nodes."""
    for made in homes(tmp_path / "home", gpus="0"):
        made.environment = {**lab.environment, **made.environment, "PATH": lab.environment["PATH"]}
        yield made


def gpus_seen(home: Home, *nodes: str) -> bool:
    return {gpu.node for gpu in home.client().gpus()} == set(nodes)


def test_jobs_run_where_their_directory_is(lab: Lab, home: Home) -> None:
    for name in ("gpu01", "gpu02"):
        lab.host(name)
        assert home.tarmac("node", "add", name).returncode == 0
    assert until(lambda: gpus_seen(home, "gpu01", "gpu02"))
    folder = "/tmp/project"  # every host has its own /tmp
    assert lab.ssh("gpu02", "mkdir", folder).returncode == 0
    refused = home.tarmac("add", "--cwd", "/tmp/none", "--", "true")
    assert refused.returncode == 2
    assert "cwd /tmp/none is not a directory" in refused.stderr
    script = "while [ ! -e go ]; do sleep 0.05; done"
    jobs = [home.add("--cwd", folder, "-c", script) for _ in range(3)]  # gpu02 has two GPUs
    assert until(lambda: home.client().job(jobs[1]).state == "running")
    assert home.client().job(jobs[2]).state == "queued"
    assert f"gpu01: {folder} does not exist there" in home.tarmac("why", str(jobs[2])).stdout
    assert lab.ssh("gpu02", "touch", f"{folder}/go").returncode == 0
    assert [job.node for job in home.client().wait(jobs, timeout_s=60)] == ["gpu02"] * 3


def test_a_node_that_is_added_later_shows_at_the_launch_what_it_lacks(lab: Lab, home: Home) -> None:
    lab.host("gpu01", gpus="1x24G")
    assert home.tarmac("node", "add", "gpu01").returncode == 0
    assert until(lambda: gpus_seen(home, "gpu01"))
    folder = "/tmp/project"
    assert lab.ssh("gpu01", "mkdir", folder).returncode == 0
    first = home.add("--cwd", folder, "-c", "while [ ! -e go ]; do sleep 0.05; done")
    second = home.add("--cwd", folder, "-c", "true")
    lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    assert until(lambda: f"gpu02: {folder} does not exist there" in home.tarmac("why", str(second)).stdout)
    assert lab.ssh("gpu01", "touch", f"{folder}/go").returncode == 0
    ended = home.client().wait([first, second], timeout_s=60)
    assert [(job.state, job.node) for job in ended] == [("succeeded", "gpu01")] * 2
    assert home.client().job(second).attempt == 2
