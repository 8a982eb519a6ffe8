"""One queue over two nodes: the controller's own machine, and a second agent with its own state and GPUs."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.client import Job
from tests.api.served import Served
from tests.home import Home, homes, until

SECOND = "second"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Home]:
    """Two GPUs of 24G on the home node, two of 48G on the second."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "config.toml").write_text(
        f'[[nodes]]\nname = "{SECOND}"\nkind = "local"\nstate = "{tmp_path / SECOND}"\n'
        'environment = { TARMAC_FAKE_GPUS = "2x48G" }\n'
    )
    yield from homes(folder)


@pytest.fixture
def two(started: Home) -> Home:
    assert until(lambda: len(started.client().gpus()) == 4)
    return started


def home_node(home: Home) -> str:
    return str(home.client().status()["node"])


def second_agent(home: Home) -> int:
    return int((home.path.parent / SECOND / "agent" / "agent.lock").read_text())


def running(home: Home, *jobs: int) -> list[Job]:
    """Wait until all these jobs run; returns them."""
    assert until(lambda: all(home.client().job(job).state == "running" for job in jobs))
    return [home.client().job(job) for job in jobs]


def places(jobs: list[Job]) -> set[tuple[str, int]]:
    return {(gpu["node"], gpu["index"]) for job in jobs for gpu in job.gpus}


def test_jobs_of_one_queue_run_on_both_nodes(two: Home) -> None:
    jobs = running(two, *(two.add("sleep", "600") for _ in range(4)))
    here = home_node(two)
    assert places(jobs) == {(here, 0), (here, 1), (SECOND, 0), (SECOND, 1)}
    shown = {gpu.uuid: (gpu.node, gpu.index, gpu.jobs) for gpu in two.client().gpus()}
    assert {(node, index) for node, index, _ in shown.values()} == places(jobs)
    assert all(shown[job.gpus[0]["uuid"]][2] == [job.id] for job in jobs)
    assert {here, SECOND} <= set(two.tarmac("gpus").stdout.split())
    waiting = two.add("true")
    why = two.tarmac("why", str(waiting)).stdout
    assert here in why
    assert SECOND in why
    assert two.tarmac("kill", *(str(job.id) for job in jobs if job.node == SECOND), "--grace", "0").returncode == 0
    assert two.client().wait(waiting, timeout_s=60)[0].node == SECOND
    listed = json.loads(two.tarmac("ls", "-a", "--json").stdout)
    assert {job["state"] for job in listed if job["node"] == here} == {"running"}


def test_a_job_runs_on_the_node_that_can_take_it(two: Home) -> None:
    job = two.add("--min-gpu-mem", "40G", "--", "sh", "-c", "echo on $TARMAC_NODE, GPU $CUDA_VISIBLE_DEVICES")
    assert two.tarmac("wait", str(job)).returncode == 0
    assert f"node {SECOND}" in " ".join(two.tarmac("show", str(job)).stdout.split())
    assert two.tarmac("log", str(job)).stdout == f"on {SECOND}, GPU 0\n"


def test_an_index_of_both_nodes_must_name_its_node(two: Home) -> None:
    here = home_node(two)
    for words in (["gpu", "drain", "0"], ["add", "--gpus-on", "0", "true"]):
        refused = two.tarmac(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "GPU 0 exists on several nodes" in refused.stderr
        assert f"{here}:0, {SECOND}:0" in refused.stderr
    job = two.add("--gpus-on", f"{SECOND}:1", "sleep", "600")
    assert places(running(two, job)) == {(SECOND, 1)}
    assert two.client().job(job).gpus_on == [f"{SECOND}:1"]


def test_gpus_are_shown_with_their_node(two: Home) -> None:
    here = home_node(two)
    jobs = [two.add("--gpus-on", f"{node}:0-1", "sleep", "600") for node in (here, SECOND)]
    running(two, *jobs)
    listed = [line.split()[2] for line in two.tarmac("ls").stdout.splitlines()[1:3]]
    assert listed == [f"{here}:0-1", f"{SECOND}:0-1"]
    assert f"2 ({SECOND}:0-1)" in two.tarmac("show", str(jobs[1])).stdout
    waiting = two.add("true")
    for verb in ("why", "show"):
        said = two.tarmac(verb, str(waiting)).stdout
        assert f"{here}: requested 1 GPU; 0 of 2 are free (held by job {jobs[0]})" in said
        assert f"{SECOND}: requested 1 GPU; 0 of 2 are free (held by job {jobs[1]})" in said
        assert f"{SECOND} GPU 0-1: held by job {jobs[1]}" in said
    refused = two.tarmac("start", str(waiting), "--gpus-on", f"{SECOND}:1")
    assert f"GPU {SECOND}:1 is held by job {jobs[1]}" in refused.stderr
    started = two.tarmac("start", str(waiting), "--gpus-on", f"{SECOND}:1", "--yes", "--json")
    assert [gpu["name"] for gpu in json.loads(started.stdout)[0]["gpus"]] == [f"{SECOND}:1"]
    reserved = two.tarmac("reserve", "2", "--from", "in 10h", "--for", "1h")
    assert reserved.returncode == 0, reserved.stderr
    (line,) = two.tarmac("reserve").stdout.splitlines()[1:]
    assert {f"{here}:0-1", f"{SECOND}:0-1"} & set(line.split())


def test_a_job_cannot_be_pinned_to_two_nodes(two: Home) -> None:
    both = f"{home_node(two)}:1,{SECOND}:0"
    held = two.add("--hold", "-g", "2", "true")
    for words in (["add", "--gpus-on", both, "true"], ["start", str(held), "--gpus-on", both]):
        refused = two.tarmac(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"on several nodes ({home_node(two)}, {SECOND}), but a job runs on one" in refused.stderr


def test_gpus_of_a_node_are_named_by_a_range_or_as_all(two: Home) -> None:
    for words, code in ((["gpu", "drain", "foo:0"], 3), (["add", "--gpus-on", "foo:0", "true"], 2)):
        refused = two.tarmac(*words)
        assert refused.returncode == code
        assert "unknown node foo" in refused.stderr
    jobs = [two.add("--gpus-on", f"{SECOND}:{gpus}", "true") for gpus in ("0-1", "all")]
    ended = two.client().wait(jobs, timeout_s=60)
    assert [places([job]) for job in ended] == [{(SECOND, 0), (SECOND, 1)}] * 2
    assert two.tarmac("gpu", "drain", f"{SECOND}:0-1").returncode == 0
    assert {(gpu.node, gpu.index) for gpu in two.client().gpus() if gpu.drained} == {(SECOND, 0), (SECOND, 1)}


def test_gpus_are_drained_by_node(two: Home) -> None:
    here = home_node(two)
    assert two.tarmac("gpu", "drain", f"{SECOND}:1").returncode == 0
    assert {(gpu.node, gpu.index) for gpu in two.client().gpus() if gpu.drained} == {(SECOND, 1)}
    assert two.tarmac("gpu", "drain", f"{here}:all").returncode == 0
    assert places(running(two, two.add("sleep", "600"))) == {(SECOND, 0)}
    blocked = two.add("true")
    assert two.client().job(blocked).state == "queued"
    assert two.tarmac("gpu", "resume", f"{here}:0").returncode == 0
    assert two.client().wait(blocked, timeout_s=60)[0].node == here


def test_the_death_of_an_agent_affects_only_its_node(two: Home, tmp_path: Path) -> None:
    gate, here = tmp_path / "gate", home_node(two)
    program = f"while [ ! -e {gate} ]; do sleep 0.05; done; exit 7"
    jobs = running(two, *(two.add("--", "sh", "-c", program) for _ in range(4)))
    home_agent, second = two.pid_of("agent"), second_agent(two)
    os.kill(second, signal.SIGKILL)
    gate.touch()  # some end while their agent is away
    ended = two.client().wait([job.id for job in jobs], timeout_s=60)
    assert [(job.state, job.exit_code, job.attempt) for job in ended] == [("failed", 7, 1)] * 4
    assert {job.node for job in ended} == {here, SECOND}
    assert until(lambda: second_agent(two) != second)
    assert two.pid_of("agent") == home_agent
    assert two.client().wait(two.add("--gpus-on", f"{SECOND}:0", "true"), timeout_s=60)[0].exit_code == 0


def test_a_process_is_adopted_and_ignored_on_its_node(two: Home) -> None:
    api = Served(two)
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            status, answer = api.ask("POST", "/adopt", {"pid": process.pid})
            assert (status, answer["error"]["key"]) == (400, "node.not_named")
            ignored = two.tarmac("gpu", "ignore-process", str(process.pid), "--node", SECOND, "--json")
            assert json.loads(ignored.stdout) == {"ignored": [str(process.pid)]}
            adopted = two.tarmac("adopt", str(process.pid), "--node", SECOND, "--gpus", "1")
            assert adopted.returncode == 0, adopted.stderr
            assert places(running(two, int(adopted.stdout))) == {(SECOND, 1)}
        finally:
            process.kill()
    assert two.client().wait(int(adopted.stdout), timeout_s=60)


def test_a_request_that_no_node_can_meet_is_refused_as_such(two: Home) -> None:
    refused = two.tarmac("add", "-g", "3", "true")
    assert refused.returncode == 2
    assert "requested 3 GPUs; no node has enough, the closest has 2" in refused.stderr


def test_stop_ends_both_agents(two: Home) -> None:
    assert two.tarmac("stop").returncode == 0
    assert until(lambda: not two.processes())


def two_nodes(*states: str) -> str:
    return "".join(f'[[nodes]]\nname = "n{i}"\nkind = "local"\nstate = "{state}"\n' for i, state in enumerate(states))


def test_a_wrong_list_of_nodes_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    for nodes, says in (
        ('[[nodes]]\nname = "a:b"\nkind = "local"\nstate = "/x"', "'a:b' of nodes[0] is not a valid name"),
        ('[[nodes]]\nname = "a"\nkind = "teleport"\nstate = "/x"', "nodes[0] has an unknown kind teleport"),
        ('[[nodes]]\nname = "a"\nkind = "local"\nstate = "x"', "state x of node a is not absolute"),
        (2 * '[[nodes]]\nname = "a"\nkind = "local"\nstate = "/x"\n', "two nodes have the name a"),
        (f'[[nodes]]\nname = "a"\nkind = "local"\nstate = "{folder}/"', "the state directory of this controller"),
        (two_nodes("/x", "/x/"), "two nodes have the state /x"),
    ):
        (folder / "config.toml").write_text(nodes)
        done = Home(folder).tarmac("status")
        assert done.returncode == 2, done.stderr
        assert says in done.stderr
