"""Two queues that use the same machine: neither disturbs the other, and both know."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, homes, until
from tests.ssh.lab import Lab


@pytest.fixture
def queues(lab: Lab, tmp_path: Path) -> Iterator[list[Home]]:
    """Of two people who use the same account there."""
    for one in homes(tmp_path / "one", gpus="0"):
        for two in homes(tmp_path / "two", gpus="0"):
            for home in (one, two):
                home.environment = {**lab.environment, **home.environment, "PATH": lab.environment["PATH"]}
            yield [one, two]


def test_two_controllers_share_a_machine(lab: Lab, queues: list[Home]) -> None:
    host = lab.host("gpu02")
    one, two = queues
    added = [home.tarmac("node", "add", "gpu02") for home in queues]
    assert [done.returncode for done in added] == [0, 0], added
    assert added[0].stderr == ""
    assert "gpu02 is also used by " in added[1].stderr
    gate = host.home() / "gate"
    wait = f"until [ -e {gate} ]; do sleep 0.05; done; echo $TARMAC_JOB_ID; exit"
    jobs = [
        home.add("--cwd", str(host.home()), "--", "sh", "-c", f"{wait} {code}") for home, code in ((one, 5), (two, 6))
    ]
    for home, job in zip(queues, jobs, strict=True):
        assert until(lambda: home.client().job(job).state == "running")  # noqa: B023 - called at once
    # The first one learns of the second when it connects again. Its link, its agent and its jobs are its own.
    assert one.tarmac("stop").returncode == 0
    assert two.client().job(jobs[1]).state == "running"
    assert one.client().job(jobs[0]).state == "running"
    assert until(lambda: one.client().job(jobs[0]).node == "gpu02")
    assert until(lambda: "gpu02 is also used by " in one.tarmac("node", "edit", "gpu02", "--use", "run").stderr)
    gate.touch()
    for home, job, code in zip(queues, jobs, (5, 6), strict=True):
        (ended,) = home.client().wait(job, timeout_s=60)
        assert (ended.exit_code, ended.node, ended.attempt) == (code, "gpu02", 1)
        assert home.tarmac("log", str(job)).stdout == f"{job}\n"
