"""A configured node whose agent does not answer is shown, with since when and why."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, homes, until

DEAD = "second"


def configured(folder: Path, state: Path) -> None:
    folder.mkdir(mode=0o700)
    (folder / "config.toml").write_text(
        f'[[nodes]]\nname = "{DEAD}"\nkind = "local"\nstate = "{state}"\n'
        f'environment = {{ TARMAC_FAKE_GPUS = "1x48G" }}\n'
    )


@pytest.fixture
def unreachable(tmp_path: Path) -> Iterator[Home]:
    """The state directory of the second node cannot be created."""
    (tmp_path / "file").touch()
    configured(tmp_path / "home", tmp_path / "file" / "state")
    yield from homes(tmp_path / "home")


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Home]:
    configured(tmp_path / "home", tmp_path / DEAD)
    yield from homes(tmp_path / "home")


def node(home: Home, name: str) -> dict[str, object]:
    nodes = json.loads(home.tarmac("status", "--json").stdout)["nodes"]
    return next(one for one in nodes if one["name"] == name)


def test_a_node_that_never_answered(unreachable: Home) -> None:
    assert until(lambda: "Not a directory" in str(node(unreachable, DEAD)["problem"]))
    found = node(unreachable, DEAD)
    assert (found["connected"], found["agent_pid"], found["gpus"], found["memory_available_bytes"]) == (
        False, None, 0, None,
    )  # fmt: skip
    for verb in ("status", "gpus"):
        said = " ".join(unreachable.tarmac(verb).stdout.split())
        assert DEAD in said
        assert "not connected since" in said
        assert "Not a directory" in said
    log = (unreachable.path / "controller.log").read_text()
    assert log.count("Not a directory") == 1, "a try every two seconds must not fill the log"


def test_a_node_that_is_lost_and_comes_back(two: Home, tmp_path: Path) -> None:
    assert until(lambda: node(two, DEAD)["gpus"] == 1)
    job = two.add("--min-gpu-mem", "40G", "sleep", "600")
    assert until(lambda: two.client().job(job).state == "running")
    folder, moved = tmp_path / DEAD, tmp_path / "moved"
    agent = int((folder / "agent" / "agent.lock").read_text())
    folder.rename(moved)
    folder.touch()  # no agent can start there
    os.kill(agent, signal.SIGKILL)
    assert until(lambda: not node(two, DEAD)["connected"] and node(two, DEAD)["problem"])
    assert "not connected since" in two.tarmac("gpus").stdout
    assert any(gpu.stale_s for gpu in two.client().gpus() if gpu.node == DEAD)
    folder.unlink()
    moved.rename(folder)
    assert until(lambda: node(two, DEAD)["connected"])
    assert node(two, DEAD)["problem"] is None
    assert "not connected" not in two.tarmac("gpus").stdout
    assert not any(gpu.stale_s for gpu in two.client().gpus())


def test_an_agent_of_this_machine_that_cannot_start(home: Home) -> None:
    (home.path / "agent" / "agent.lock").mkdir(parents=True, mode=0o700)
    home.path.chmod(0o700)
    assert until(lambda: "Is a directory" in home.tarmac("status").stdout)
    said = home.tarmac("status").stdout
    assert "not connected since" in next(line for line in said.splitlines() if line.startswith("agent"))
    (home.path / "agent" / "agent.lock").rmdir()
    assert until(lambda: "not connected" not in home.tarmac("status").stdout)
