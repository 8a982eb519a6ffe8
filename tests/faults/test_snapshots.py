"""Processes die while a snapshot is uploaded, removed or checked out; every tree that a job names stays complete."""

import subprocess
from pathlib import Path

import pytest

from tests.home import Home, until

UPLOAD = ["before-objects", "before-commit", "after-commit", "before-tree", "after-tree"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.sh").write_text("cat data\n")
    (root / "data").write_text("frozen\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def has_struck(home: Home, point: str) -> bool:
    logs = [home.path / "controller.log", home.path / "agent" / "agent.log"]
    return any(f"crash point {point}" in log.read_text() for log in logs if log.exists())


@pytest.mark.parametrize("point", [f"snapshots:{name}" for name in UPLOAD])
def test_the_controller_dies_during_an_upload_and_the_job_runs_the_frozen_code(
    home: Home, project: Path, point: str
) -> None:
    home.tarmac("status", env={"TARMAC_CRASH_AT": point})
    added = home.tarmac("add", "-g", "0", "--hold", "--snapshot", "sh", "train.sh", cwd=project)
    assert added.returncode == 0, added.stderr
    assert has_struck(home, point)
    (project / "data").write_text("changed\n")
    home.tarmac("release", "1")
    home.tarmac("wait", "1")
    assert home.tarmac("log", "1").stdout == "frozen\n"


@pytest.mark.parametrize("point", ["checkout:before-fill", "checkout:after-fill"])
def test_the_process_of_a_job_dies_during_its_checkout_and_the_next_attempt_completes_it(
    home: Home, project: Path, point: str
) -> None:
    home.tarmac("status", env={"TARMAC_CRASH_AT": point})
    home.tarmac("add", "-g", "0", "--snapshot", "sh", "train.sh", cwd=project)
    home.tarmac("wait", "1")
    assert has_struck(home, point)
    assert "killed repeatedly before it started" in home.tarmac("show", "1").stdout
    home.tarmac("stop")
    (project / "data").unlink()
    assert until(lambda: home.tarmac("retry", "1").returncode == 0)
    home.tarmac("wait", "1")
    assert home.tarmac("log", "1").stdout == "frozen\n"


@pytest.mark.parametrize("point", ["files:before-prune", "files:after-prune"])
def test_a_helper_dies_while_it_prunes_and_a_retry_finds_everything(home: Home, project: Path, point: str) -> None:
    home.tarmac("status", env={"TARMAC_CRASH_AT": point})
    home.tarmac("set", "checkout_keep_s", "0")
    for _ in range(2):
        home.tarmac("run", "-g", "0", "--snapshot", "sh", "-c", "echo mine > result", cwd=project)
    home.tarmac("rm", "2")  # begins the cleanup
    assert until(lambda: has_struck(home, point))
    home.tarmac("stop")
    assert until(lambda: home.tarmac("retry", "1").returncode == 0)
    home.tarmac("wait", "1")
    files = sorted(path.name for path in (home.path / "checkouts" / "1" / "project").iterdir())
    assert files == ["data", "result", "train.sh"]
