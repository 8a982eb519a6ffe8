"""Jobs on several nodes: agents on this machine, each with its own state and GPUs."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.client import Job
from tests.home import Home, homes, until

SECOND, THIRD = "second", "third"
ENVIRONMENT = ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "WORLD_SIZE", "RANK", "TARMAC_NODES", "TARMAC_NODE_COUNT")


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Home]:
    """Two GPUs on each of three nodes."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    entry = (
        '[[nodes]]\nname = "{0}"\nkind = "local"\nstate = "{1}/{0}"\nenvironment = {{ TARMAC_FAKE_GPUS = "2x24G" }}\n'
    )
    (folder / "config.toml").write_text("".join(entry.format(name, tmp_path) for name in (SECOND, THIRD)))
    yield from homes(folder)


@pytest.fixture
def three(started: Home) -> Home:
    assert until(lambda: len(started.client().gpus()) == 6)
    return started


def agent_of(home: Home, name: str) -> int:
    return int((home.path.parent / name / "agent" / "agent.lock").read_text())


def ended(home: Home, job: int) -> Job:
    (found,) = home.client().wait(job, timeout_s=60)
    return home.client().job(found.id)


def in_state(home: Home, job: int, *states: str) -> bool:
    return [part["state"] for part in home.client().job(job).parts or ()] == list(states)


def where_parts_run(home: Home, job: int) -> list[str]:
    assert until(lambda: in_state(home, job, "running", "running"))
    return [part["node"] for part in home.client().job(job).parts or ()]


def output(home: Home, job: int, node: str) -> str:
    return b"".join(home.client().logs(job, node=node)).decode()


def test_each_part_learns_its_place_and_where_the_first_is(three: Home) -> None:
    program = f"import os, json; print(json.dumps({{n: os.environ.get(n) for n in {ENVIRONMENT!r}}}))"
    job = ended(three, three.add("--nodes", "2", "-g", "1", "python3", "-c", program))
    assert job.state == "succeeded"
    nodes = [part["node"] for part in job.parts or ()]
    first, second = (json.loads(output(three, job.id, node)) for node in nodes)
    assert (first.pop("NODE_RANK"), second.pop("NODE_RANK")) == ("0", "1")
    assert (first.pop("RANK"), second.pop("RANK")) == ("0", "1")
    assert first == second
    assert first["MASTER_ADDR"] == "127.0.0.1"
    assert 20000 <= int(first["MASTER_PORT"]) < 32000
    assert (first["WORLD_SIZE"], first["TARMAC_NODE_COUNT"]) == ("2", "2")
    assert first["TARMAC_NODES"] == ",".join(nodes)
    assert three.tarmac("log", str(job.id)).stdout == output(three, job.id, nodes[0])
    assert json.loads(three.tarmac("log", str(job.id), "--node", nodes[1]).stdout)["NODE_RANK"] == "1"
    shown = three.tarmac("show", str(job.id)).stdout
    assert f"{nodes[1]}: succeeded" in shown
    assert {gpu["node"] for gpu in job.gpus} == set(nodes)


def test_all_or_nothing(three: Home) -> None:
    alone = [three.add("--gpus-on", f"{name}:0", "sleep", "600") for name in (SECOND, THIRD)]
    assert until(lambda: all(three.client().job(job).state == "running" for job in alone))
    wide = three.add("--nodes", "2", "-g", "2", "true")
    why = three.tarmac("why", str(wide)).stdout
    assert "needs 2 nodes at once, with 2 GPUs free on each; 1 has them" in why
    assert three.client().job(wide).state == "queued"
    assert three.tarmac("kill", str(alone[0]), "--grace", "0").returncode == 0
    assert ended(three, wide).state == "succeeded"


def test_what_no_set_of_nodes_can_do_is_refused(three: Home) -> None:
    refused = three.tarmac("add", "--nodes", "4", "true")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "requested 4 nodes; 3 of 3 have what the job asks for" in refused.stderr
    pinned = three.tarmac("add", "--nodes", "2", "--gpus-on", f"{SECOND}:0", "true")
    assert (pinned.returncode, pinned.stdout) == (2, "")
    assert "--nodes" in pinned.stderr


def test_a_part_that_ends_badly_ends_the_others(three: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    program = f"[ $NODE_RANK = 0 ] && sleep 600; while [ ! -e {gate} ]; do sleep 0.05; done; exit 7"
    job = three.add("--nodes", "2", "-g", "2", "sh", "-c", program)
    where_parts_run(three, job)
    gate.touch()
    over = ended(three, job)
    assert (over.state, over.reason, over.exit_code) == ("failed", "exit", 7)
    first, second = over.parts or ()
    assert (second["is_cause"], second["exit_code"]) == (True, 7)
    assert (first["is_cause"], first["signal"]) == (False, signal.SIGTERM)
    assert until(lambda: not any(gpu.jobs for gpu in three.client().gpus()))


def test_a_part_that_cannot_start_ends_the_others(three: Home, tmp_path: Path) -> None:
    """The program is missing where the node is not the first: each node looks for it in another place."""
    program = tmp_path / "train"
    program.write_text("#!/bin/sh\nrm $0; sleep 600\n")
    program.chmod(0o755)
    over = ended(three, three.add("--nodes", "3", "-g", "1", str(program)))
    assert (over.state, over.reason) == ("failed", "launch")
    assert sorted(part["state"] for part in over.parts or ()) in (
        ["cancelled", "failed", "failed"],
        ["failed", "failed", "failed"],
    )


def test_a_job_is_stopped_paused_and_resumed_as_one(three: Home, tmp_path: Path) -> None:
    ticks = [tmp_path / f"ticks{rank}" for rank in range(2)]
    job = three.add(
        "--nodes", "2", "-g", "1", "-c", f"while :; do echo >> {tmp_path}/ticks$NODE_RANK; sleep 0.01; done"
    )
    where_parts_run(three, job)
    assert until(lambda: all(path.exists() for path in ticks))
    assert three.tarmac("pause", str(job)).returncode == 0
    assert until(lambda: all(is_still(path) for path in ticks))
    assert three.tarmac("resume", str(job)).returncode == 0
    sizes = [path.stat().st_size for path in ticks]
    assert until(lambda: all(path.stat().st_size > size for path, size in zip(ticks, sizes, strict=True)))
    assert three.tarmac("kill", str(job)).returncode == 0
    over = ended(three, job)
    assert over.state == "cancelled"
    assert [part["signal"] for part in over.parts or ()] == [signal.SIGTERM, signal.SIGTERM]
    assert not any(part["is_cause"] for part in over.parts or ())


def is_still(path: Path) -> bool:
    before = path.stat().st_size
    return not until(lambda: path.stat().st_size > before, 0.3)


def test_a_job_is_retried_as_one(three: Home, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = f"[ $NODE_RANK = 1 ] && [ ! -e {mark} ] && touch {mark} && exit 3; exit 0"
    job = ended(three, three.add("--nodes", "2", "-g", "1", "--retry", "1", "sh", "-c", program))
    assert (job.state, job.attempt) == ("succeeded", 2)
    assert [attempt["exit_code"] for attempt in job.attempts or ()] == [3, 0]
    assert [len({gpu["node"] for gpu in attempt["gpus"]}) for attempt in job.attempts or ()] == [2, 2]


def test_a_time_limit_ends_all_parts(three: Home) -> None:
    job = ended(three, three.add("--nodes", "2", "-g", "1", "--time", "1s", "--grace", "1", "sleep", "600"))
    assert (job.state, job.reason) == ("failed", "timeout")


def test_parts_write_to_separate_files(three: Home, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    job = ended(three, three.add("--nodes", "2", "-g", "1", "--log", str(log), "sh", "-c", "echo part $NODE_RANK"))
    assert job.state == "succeeded"
    assert (log.read_text(), Path(f"{log}.1").read_text()) == ("part 0\n", "part 1\n")


def test_the_logs_of_all_parts_go_with_their_job(three: Home) -> None:
    job = ended(three, three.add("--nodes", "2", "-g", "1", "sh", "-c", "echo part $NODE_RANK"))
    logs = three.path / "logs"
    assert sorted(os.listdir(logs)) == [f"{job.id}.1.log", f"{job.id}.1.part1.log"]
    assert three.tarmac("rm", str(job.id)).returncode == 0
    assert until(lambda: not os.listdir(logs))


def test_a_part_outlives_its_agent_and_the_controller(three: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    program = f"while [ ! -e {gate} ]; do sleep 0.05; done; exit $((NODE_RANK * 5))"
    job = three.add("--nodes", "2", "-g", "2", "sh", "-c", program)
    for name in where_parts_run(three, job):
        if name in (SECOND, THIRD):
            os.kill(agent_of(three, name), signal.SIGKILL)
    os.kill(three.pid_of("controller"), signal.SIGKILL)
    gate.touch()
    assert three.tarmac("wait", str(job)).returncode == 5, "it starts another controller, which learns the ends"
    over = three.client().job(job)
    assert (over.state, over.exit_code) == ("failed", 5)
    assert sorted(part["exit_code"] or 0 for part in over.parts or ()) == [0, 5]


def test_gpu_time_is_accounted_on_every_node(three: Home) -> None:
    job = ended(three, three.add("--nodes", "3", "-g", "2", "true"))
    report = json.loads(three.tarmac("report", "--by", "gpu", "--json").stdout)
    held = {row["node"] for row in report["rows"]} if isinstance(report, dict) else {row["node"] for row in report}
    assert held >= {part["node"] for part in job.parts or ()}
