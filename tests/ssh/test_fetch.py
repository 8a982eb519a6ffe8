"""Files of jobs on nodes over SSH: results are copied back."""

from __future__ import annotations

import os
import subprocess
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


def test_results_of_frozen_code_come_back(lab: Lab, home: Home, tmp_path: Path) -> None:
    lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.sh").write_text("mkdir -p results/deep; cd results/deep; echo 0.93 > acc; chmod 640 acc\n")
    done = home.tarmac(
        "run", "--snapshot", "--fetch", "results/", "--fetch", "absent,train.sh", "--", "sh", "train.sh", cwd=project
    )
    assert done.returncode == 0, done.stderr
    fetched = project / "results" / "deep" / "acc"
    assert fetched.read_text() == "0.93\n"
    assert fetched.stat().st_mode & 0o777 == 0o640
    shown = home.tarmac("show", "1").stdout
    assert "1 file, 5B from gpu02; 1 unchanged; 1 not copied:" in " ".join(shown.split()), shown
    assert f"{lab.path}/gpu02" in next(line for line in shown.splitlines() if line.startswith("  checkout"))
    assert "absent does not exist on the node" in shown
    assert sorted(os.listdir(project)) == ["results", "train.sh"]


def test_a_copy_goes_on_after_a_cut_and_a_killed_controller(lab: Lab, home: Home, tmp_path: Path) -> None:
    host = lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    project = tmp_path / "project"
    project.mkdir()
    script = f"mkdir out; head -c {LARGE} /dev/urandom > out/large; cksum < out/large"
    job = home.add("--cwd", str(project), "--snapshot", "--fetch", "out", "-c", script)
    assert until((project / "out" / f".tarmac-fetch-{job}.part").exists)
    os.kill(home.pid_of("controller"), 9)
    host.cut()
    host.heal()
    assert home.tarmac("status").returncode == 0
    large = project / "out" / "large"
    assert until(large.exists), home.tarmac("show", str(job)).stdout
    (ended,) = home.client().wait(job, timeout_s=60)
    assert ended.state == "succeeded"
    assert home.tarmac("log", str(job)).stdout.split() == cksum(large)
    assert os.listdir(project / "out") == ["large"]
    assert home.tarmac("log", str(job)).returncode == 0


def test_a_node_is_not_removed_while_files_are_copied_from_it(lab: Lab, home: Home, tmp_path: Path) -> None:
    host = lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    project = tmp_path / "project"
    project.mkdir()
    script = f"mkdir out; head -c {LARGE} /dev/urandom > out/large"
    job = home.add("--cwd", str(project), "--snapshot", "--fetch", "out", "-c", script)
    assert until((project / "out" / f".tarmac-fetch-{job}.part").exists)
    host.cut()
    refused = home.tarmac("node", "rm", "gpu02")
    assert (refused.returncode, f"files of job {job} are being copied from gpu02" in refused.stderr) == (2, True)
    host.heal()
    assert until((project / "out" / "large").exists)
    assert until(lambda: home.tarmac("node", "rm", "gpu02").returncode == 0)


def cksum(path: Path) -> list[str]:
    with path.open("rb") as file:
        return subprocess.run(["cksum"], stdin=file, capture_output=True, text=True, check=True).stdout.split()


def test_a_shared_directory_needs_no_copy(lab: Lab, home: Home) -> None:
    """Directories of the lab are the same on this machine and on its hosts."""
    host = lab.host("gpu02")
    assert home.tarmac("node", "add", "gpu02").returncode == 0
    folder = host.home()
    job = home.add("--cwd", str(folder), "--fetch", "out", "-c", "echo hello > out")
    (ended,) = home.client().wait(job, timeout_s=60)
    assert ended.state == "succeeded"
    assert until(lambda: (home.client().job(job).fetched or {}).get("state") == "shared")
    assert "nothing: gpu02 has the same files" in home.tarmac("show", str(job)).stdout
    assert [name for name in os.listdir(folder) if name.startswith(".tarmac-probe")] == []
    assert os.listdir(home.path / "probes") == []
