"""Kills while a job on two nodes starts, runs and ends: every part runs once, and the job ends as its parts did."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac import paths
from tests.home import Home, homes, until

SECOND = "second"
# Each part says when it begins and ends. It ends when all parts have begun, so a part that is forgotten is noticed.
PART = (
    "echo begin $TARMAC_ATTEMPT $NODE_RANK >> {0}; "
    "until grep -q begin.$TARMAC_ATTEMPT.0 {0} && grep -q begin.$TARMAC_ATTEMPT.1 {0}; do sleep 0.05; done; "
    "echo end $TARMAC_ATTEMPT $NODE_RANK >> {0}; exit {1}"
)
CONTROLLER = [
    f"controller:{point}@{nth}"
    for point in ("before-commit", "after-commit", "before-start", "after-start", "before-forget", "after-forget")
    for nth in (1, 2)
]
AGENT = [f"agent:{point}@{nth}" for point in ("before-report", "after-report") for nth in (1, 2)]
SIGNAL = ["controller:before-signal", "controller:after-signal"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    environment = 'environment = { TARMAC_FAKE_GPUS = "2x24G" }'
    (folder / "config.toml").write_text(
        f'[[nodes]]\nname = "{SECOND}"\nkind = "local"\nstate = "{tmp_path / SECOND}"\n{environment}\n'
    )
    yield from homes(folder)


def start(home: Home, point: str) -> None:
    """Start Tarmac so that it dies at this point. What is started later does not die."""
    home.environment["TARMAC_CRASH_AT"] = point
    assert home.tarmac("status").returncode == 0
    del home.environment["TARMAC_CRASH_AT"]
    wait_for_nodes(home)


def wait_for_nodes(home: Home) -> None:
    assert until(lambda: home.tarmac("gpus", "--json").stdout.count('"uuid"') >= 4)


def has_struck(home: Home, point: str) -> bool:
    states = (home.path, home.path.parent / SECOND)
    logs = [paths.controller_log(home.path), *(paths.agent_log(state) for state in states)]
    words = f"crash point {point.partition('@')[0]}"
    return any(Path(log).exists() and words in Path(log).read_text() for log in logs)


def add(home: Home, witness: Path, exit_code: str = "0") -> int:
    return home.add("--nodes", "2", "-g", "1", "-c", PART.format(witness, exit_code))


def expect(home: Home, job: int, witness: Path, exit_code: int) -> None:
    """All parts ran exactly once, in one attempt, and nothing is left of them."""
    assert home.tarmac("wait", str(job)).returncode == exit_code
    over = home.client().job(job)
    lines = Counter(witness.read_text().splitlines())
    assert over.attempt == 1
    assert lines["begin 1 0"] == lines["begin 1 1"] == 1, lines
    assert set(lines.values()) == {1}, "no part ran twice"
    assert until(lambda: not any(gpu.jobs for gpu in home.client().gpus()))


@pytest.mark.parametrize("point", [*CONTROLLER, *AGENT])
def test_parts_run_once_whatever_dies_when_the_job_starts_or_ends(home: Home, point: str, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    start(home, point)
    job = add(home, witness)
    assert until(lambda: has_struck(home, point))
    if point.startswith("agent:"):  # the controller would start agents that die there again
        os.kill(home.pid_of("controller"), signal.SIGKILL)
    expect(home, job, witness, 0)
    assert [part["exit_code"] for part in home.client().job(job).parts or ()] == [0, 0]


@pytest.mark.parametrize("point", SIGNAL)
def test_the_other_part_is_stopped_even_if_the_controller_dies_then(home: Home, point: str) -> None:
    start(home, point)
    job = home.add("--nodes", "2", "-g", "1", "-c", "[ $NODE_RANK = 0 ] && sleep 600; exit 4")
    assert until(lambda: has_struck(home, point))
    assert home.tarmac("wait", str(job)).returncode == 4
    first, second = home.client().job(job).parts or ()
    assert (first["signal"], second["exit_code"], second["is_cause"]) == (signal.SIGTERM, 4, True)
    assert until(lambda: not any(gpu.jobs for gpu in home.client().gpus()))


def test_both_agents_and_the_controller_die_while_the_parts_run(home: Home, tmp_path: Path) -> None:
    witness, gate = tmp_path / "witness", tmp_path / "gate"
    start(home, "none")
    job = add(home, witness, f"$(until [ -e {gate} ]; do sleep 0.05; done; echo $((NODE_RANK * 6)))")
    assert until(lambda: witness.exists() and witness.read_text().count("end") == 2)
    second = int((home.path.parent / SECOND / "agent" / "agent.lock").read_text())
    for pid in (home.pid_of("agent"), second, home.pid_of("controller")):
        os.kill(pid, signal.SIGKILL)
    gate.touch()
    expect(home, job, witness, 6)
