"""Nodes as users see them: listed, drained, resumed, watched; jobs that name nodes; a node that is away or bad."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.home import Home, homes, until

SECOND = "second"


def configured(folder: Path, state: Path, *, more: str = "") -> None:
    """Two GPUs of 24G on the home node, two of 48G on the second."""
    folder.mkdir(mode=0o700)
    (folder / "config.toml").write_text(
        f'{more}[[nodes]]\nname = "{SECOND}"\nkind = "local"\nstate = "{state}"\n'
        'environment = { TARMAC_FAKE_GPUS = "2x48G" }\n'
    )


def with_all_gpus(folder: Path) -> Iterator[Home]:
    for home in homes(folder):
        client = home.client
        assert until(lambda client=client: len(client().gpus()) == 4)
        yield home


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Home]:
    configured(tmp_path / "home", tmp_path / SECOND)
    yield from with_all_gpus(tmp_path / "home")


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Home]:
    """The second node is only watched."""
    configured(tmp_path / "home", tmp_path / SECOND)
    with (tmp_path / "home" / "config.toml").open("a") as config:
        config.write("watch_only = true\n")
    yield from with_all_gpus(tmp_path / "home")


def said(home: Home, *words: str) -> str:
    done = home.tarmac(*words)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def nodes(home: Home) -> dict[str, Any]:
    return {node["name"]: node for node in json.loads(home.tarmac("node", "ls", "--json").stdout)}


def here(home: Home) -> str:
    return str(home.client().status()["node"])


def is_running(home: Home, job: int) -> bool:
    return until(lambda: home.client().job(job).state == "running")


def test_nodes_are_listed_and_shown(two: Home) -> None:
    job = two.add("--node", SECOND, "sleep", "600")
    assert is_running(two, job)
    found = nodes(two)
    assert list(found) == [here(two), SECOND]
    second = found[SECOND]
    assert (second["kind"], second["address"], second["state"], second["reason"]) == ("local", None, "reachable", None)
    assert (second["gpus"], second["running"], second["queued"], second["drained"]) == (2, 1, 0, False)
    assert (found[here(two)]["running"], second["watch_only"], second["connected"]) == (0, False, True)
    assert all(second[field] for field in ("boot_id", "version", "connected_at", "containment"))
    assert json.loads(two.tarmac("node", "show", SECOND, "--json").stdout)["name"] == SECOND
    assert "1 running, 0 queued" in said(two, "node", "show", SECOND)
    assert f"{SECOND} reachable 2 1 0" in said(two, "node", "ls")
    listed = json.loads(two.tarmac("ls", "--node", SECOND, "--json").stdout)
    assert [one["id"] for one in listed] == [job]
    assert json.loads(two.tarmac("ls", "--node", here(two), "--json").stdout) == []
    assert {gpu["node"] for gpu in json.loads(two.tarmac("gpus", "--node", SECOND, "--json").stdout)} == {SECOND}
    refused = two.tarmac("gpus", "--node", "secnd")
    assert refused.returncode == 3
    assert f"did you mean {SECOND}" in refused.stderr


def test_a_drained_node_finishes_its_jobs_and_starts_no_more(two: Home) -> None:
    running = two.add("--node", SECOND, "sleep", "600")
    assert is_running(two, running)
    drained = two.tarmac("node", "drain", SECOND, "--reason", "new fans")
    assert drained.returncode == 0
    waiting = two.add("--node", SECOND, "true")
    why = said(two, "why", str(waiting))
    assert f"node {SECOND} is drained: new fans (by " in why
    assert f"{SECOND} GPU 0-1: the node is drained" in why
    forced = two.tarmac("start", str(waiting))
    assert forced.returncode == 2
    assert f"could start on {SECOND}, but it is drained" in forced.stderr
    for verb in (["status"], ["node", "ls"], ["gpus"], ["doctor"]):
        assert "drained: new fans (by " in " ".join(two.tarmac(*verb).stdout.split()), verb
    assert two.client().job(running).state == "running"
    two.tarmac("stop")
    assert nodes(two)[SECOND]["drained"], "a drain survives a restart"
    assert two.client().job(waiting).state == "queued"
    assert until(lambda: nodes(two)[SECOND]["state"] == "drained")
    assert two.tarmac("node", "resume", SECOND).returncode == 0
    assert two.client().wait(waiting, timeout_s=20)[0].node == SECOND
    assert two.client().job(running).state == "running"
    assert nodes(two)[SECOND]["state"] == "reachable"


def test_jobs_name_exclude_and_prefer_nodes(two: Home) -> None:
    home = here(two)
    jobs = [
        two.add("--node", f"{SECOND},{home}", "--prefer-node", SECOND, "true"),
        two.add("--exclude-node", SECOND, "true"),
        two.add("--prefer-node", SECOND, "true"),
    ]
    assert [job.node for job in two.client().wait(jobs, timeout_s=30)] == [SECOND, home, SECOND]
    shown = said(two, "show", str(jobs[0]))
    assert f"node {SECOND} or {home}" in shown
    assert f"prefers {SECOND}" in shown
    held = two.add("--hold", "--node", SECOND, "true")
    assert two.tarmac("edit", str(held), "--node", "none", "--exclude-node", SECOND).returncode == 0
    assert (two.client().job(held).only_nodes, two.client().job(held).exclude_nodes) == ([], [SECOND])
    assert two.tarmac("release", str(held)).returncode == 0
    assert two.client().wait(held, timeout_s=20)[0].node == home


def test_unknown_nodes_and_impossible_choices_are_refused(two: Home) -> None:
    for option in ("--node", "--exclude-node", "--prefer-node"):
        refused = two.tarmac("add", option, "secnd", "true")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"unknown node secnd; did you mean {SECOND}" in refused.stderr
    refused = two.tarmac("add", "--node", SECOND, "-g", "3", "true")
    assert refused.returncode == 2
    assert f"the closest has 2 (counting only {SECOND}, as --node and --exclude-node say)" in refused.stderr
    refused = two.tarmac("add", "--exclude-node", f"{SECOND},{here(two)}", "true")
    assert refused.returncode == 2
    assert "no node is left that the job may run on" in refused.stderr


def test_spread_uses_the_emptiest_node(two: Home) -> None:
    assert two.tarmac("set", "placement", "spread").returncode == 0
    jobs = [two.add("sleep", "600") for _ in range(2)]
    assert all(is_running(two, job) for job in jobs)
    assert {two.client().job(job).node for job in jobs} == {here(two), SECOND}


def test_nothing_starts_on_a_watch_only_node(watching: Home) -> None:
    assert nodes(watching)[SECOND]["watch_only"]
    assert "watch-only" in said(watching, "node", "ls")
    refused = watching.tarmac("add", "--min-gpu-mem", "40G", "true")
    assert refused.returncode == 2
    assert f"only {SECOND} could run it, but Tarmac only watches this node" in refused.stderr
    jobs = [watching.add("sleep", "600") for _ in range(3)]
    assert all(is_running(watching, job) for job in jobs[:2])
    assert watching.client().job(jobs[2]).state == "queued"
    assert {watching.client().job(job).node for job in jobs[:2]} == {here(watching)}


def test_a_job_on_a_node_that_is_away_still_runs_and_says_so(two: Home, tmp_path: Path) -> None:
    job = two.add("--node", SECOND, "sleep", "600")
    assert is_running(two, job)
    folder, moved = tmp_path / SECOND, tmp_path / "moved"
    agent = int((folder / "agent" / "agent.lock").read_text())
    folder.rename(moved)
    folder.touch()  # no agent can start there
    os.kill(agent, signal.SIGKILL)
    assert until(lambda: two.client().job(job).stale_s is not None)
    away = two.client().job(job)
    assert away.state == "running"
    assert f"node {SECOND} has been unreachable since" in str(away.stale_reason)
    assert nodes(two)[SECOND]["state"] == "unreachable"
    for verb in ("show", "why"):
        assert f"node {SECOND} has been unreachable since" in said(two, verb, str(job)), verb
    listed = two.tarmac("ls")
    assert "running, stale" in listed.stdout
    assert f"node {SECOND} has been unreachable since" in listed.stderr
    waiting = two.add("--node", SECOND, "true")
    assert f"{SECOND} is unreachable" in said(two, "why", str(waiting))
    folder.unlink()
    moved.rename(folder)
    assert until(lambda: two.client().job(job).stale_s is None)
    assert two.client().job(job).attempt == 1
    assert two.client().wait(waiting, timeout_s=20)[0].node == SECOND


def test_a_bad_node_is_drained_by_itself(two: Home) -> None:
    """All jobs here have one owner, so that more failures are needed, and a job that works elsewhere."""
    jobs = [
        two.add("--node", SECOND, "--", "sh", "-c", "echo 'RuntimeError: no CUDA device' >&2; exit 3") for _ in range(4)
    ]
    two.client().wait(jobs, timeout_s=30)
    assert two.client().wait(two.add("--exclude-node", SECOND, "true"), timeout_s=20)[0].exit_code == 0
    assert not nodes(two)[SECOND]["drained"]
    last = two.add("--node", SECOND, "--", "sh", "-c", "echo 'RuntimeError: no CUDA device' >&2; exit 3")
    two.client().wait(last, timeout_s=20)
    found = nodes(two)[SECOND]
    assert (found["drained"], found["drained_by"], found["state"]) == (True, None, "drained")
    assert "failed within 10 s of starting, 5 of them with: RuntimeError: no CUDA device" in found["drain_reason"]
    assert two.client().wait(two.add("true"), timeout_s=20)[0].node == here(two)
