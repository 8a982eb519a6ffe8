"""Nodes over SSH: real sshd, one queue."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tarmac.errors import NotFound
from tests.api.served import Served
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


def test_a_removed_node_leaves_its_logs_here(lab: Lab, home: Home) -> None:
    host = lab.host("gpu02")
    add_node(home, "gpu02")
    ended = home.add("--cwd", "/", "echo", "done")
    assert home.client().wait(ended, timeout_s=60)
    job = home.add("--cwd", "/", "sleep", "600")
    running(home, job)
    refused = home.tarmac("node", "rm", "gpu02")
    assert (refused.returncode, f"job {job} runs on gpu02" in refused.stderr) == (2, True), refused.stderr
    assert home.tarmac("kill", str(job)).returncode == 0
    home.client().wait(job, timeout_s=60)
    removed = home.tarmac("node", "rm", "gpu02", "--json")
    assert json.loads(removed.stdout) == {"name": "gpu02", "fetched_logs": 2, "unknown_jobs": []}, removed.stderr
    assert home.tarmac("log", str(ended)).stdout == "done\n"
    assert home.client().gpus() == []
    assert home.client().job(ended).gpus[0]["name"] == "gpu02:0"
    assert until(lambda: not any("tarmac: agent" in line for line in host.processes().values()))
    shutil.rmtree(host.home() / ".local" / "state" / "tarmac-nodes")  # it was installed anew
    add_node(home, "gpu02")
    assert home.tarmac("log", str(ended)).stdout == "done\n"


def test_a_removed_node_leaves_its_logs_of_parts_here(lab: Lab, home: Home) -> None:
    for name in ("gpu02", "gpu03"):
        lab.host(name)
        add_node(home, name)
    job = home.add("--nodes", "2", "-g", "1", "--cwd", "/", "sh", "-c", "echo part $NODE_RANK")
    assert home.client().wait(job, timeout_s=60)[0].state == "succeeded"
    second = (home.client().job(job).parts or ())[1]["node"]
    assert json.loads(home.tarmac("node", "rm", second, "--json").stdout)["fetched_logs"] == 1
    assert home.tarmac("log", str(job), "--node", second).stdout == "part 1\n"


def test_only_a_person_ends_the_jobs_of_a_node_that_cannot_be_reached(lab: Lab, home: Home) -> None:
    host = lab.host("gpu02")
    add_node(home, "gpu02")
    job = home.add("--cwd", "/", "sh", "-c", "echo begun; sleep 600")
    running(home, job)
    refused = home.tarmac("node", "forget", "gpu02", "--yes")
    assert "gpu02 can be reached, so it is not gone" in refused.stderr
    host.kill_sshd()
    assert until(lambda: not home.client().status()["nodes"][1]["connected"])
    assert home.client().job(job).state == "running"
    assert home.tarmac("node", "forget", "gpu02").returncode == 2
    forgotten = home.tarmac("node", "forget", "gpu02", "--yes", "--json")
    assert json.loads(forgotten.stdout)["unknown_jobs"] == [job], forgotten.stderr
    assert home.client().job(job).state == "unknown"
    assert "was on node gpu02, which was removed" in home.tarmac("log", str(job)).stderr


def test_a_watched_node_shows_its_gpus_and_runs_nothing(lab: Lab, home: Home) -> None:
    lab.host("gpu02")
    add_node(home, "gpu02", "--watch-only")
    assert until(lambda: len(home.client().gpus()) == 2)
    assert home.tarmac("node", "edit", "gpu02", "--address", "10.1.1.2").returncode == 0
    assert home.client().node("gpu02")["address"] == "10.1.1.2"
    refused = home.tarmac("add", "--cwd", "/", "true")
    assert refused.returncode == 2
    assert home.tarmac("node", "edit", "gpu02", "--use", "run").returncode == 0
    assert home.client().wait(home.add("--cwd", "/", "true"), timeout_s=60)[0].node == "gpu02"


def test_a_node_that_moved_gets_no_jobs_until_it_is_reached_again(lab: Lab, home: Home) -> None:
    lab.host("gpu02")
    add_node(home, "gpu02")
    before = home.add("--cwd", "/", "sleep", "600")
    running(home, before)
    refused = home.tarmac("node", "edit", "gpu02", "--user", "bob")
    assert (refused.returncode, f"job {before} runs on gpu02" in refused.stderr) == (2, True)
    assert home.tarmac("node", "edit", "gpu02", "--host", "nowhere.invalid").returncode == 2
    assert home.tarmac("kill", str(before), "--grace", "0").returncode == 0
    home.client().wait(before, timeout_s=60)
    assert home.tarmac("node", "edit", "gpu02", "--host", "nowhere.invalid").returncode == 0
    assert not home.client().node("gpu02")["connected"]
    job = home.add("--cwd", "/", "true")
    assert home.client().job(job).state == "queued"
    assert home.tarmac("node", "edit", "gpu02", "--host", "gpu02").returncode == 0
    assert home.client().wait(job, timeout_s=60)[0].state == "succeeded"


def test_two_requests_to_remove_a_node_remove_it_once(lab: Lab, home: Home) -> None:
    lab.host("gpu02")
    add_node(home, "gpu02")

    def remove(_: int) -> bool:
        try:
            return home.client().remove_node("gpu02")["name"] == "gpu02"
        except NotFound:
            return False

    with ThreadPoolExecutor(2) as both:
        assert sorted(both.map(remove, range(2))) == [False, True]
    add_node(home, "gpu02")
    assert home.client().wait(home.add("--cwd", "/", "true"), timeout_s=60)[0].state == "succeeded"


def test_a_node_with_jobs_stays_the_same_machine(lab: Lab, home: Home) -> None:
    for name in ("gpu02", "gpu03"):
        lab.host(name)
    add_node(home, "gpu02")
    job = home.add("--cwd", "/", "sleep", "600")
    running(home, job)
    refused = home.tarmac("node", "edit", "gpu02", "--host", "gpu03")
    assert refused.returncode == 2
    assert "gpu03 is another machine than gpu02, on which jobs run" in refused.stderr
    address = lab.hosts["gpu02"].address
    assert home.tarmac("node", "edit", "gpu02", "--host", address).returncode == 0
    assert until(lambda: home.client().node("gpu02")["connected"])
    assert home.client().job(job).state == "running"
    assert home.tarmac("kill", str(job), "--grace", "0").returncode == 0


@pytest.mark.parametrize(
    ("option", "said"), [(("--address", "a,b"), "'a,b' is not an address"), (("--port", "0x1"), "--port")]
)
def test_wrong_options_of_a_node_are_refused(home: Home, option: tuple[str, str], said: str) -> None:
    refused = home.tarmac("node", "add", "gpu02", "--later", *option)
    assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr


def test_a_variable_that_no_process_can_have_is_refused(home: Home) -> None:
    body = {"name": "n", "host": "n", "later": True, "environment": {"X": "a\0b"}}
    status, answer = Served(home).ask("POST", "/nodes", body)
    assert (status, answer["error"]["key"]) == (400, "node.variable_invalid")
