"""The wall clock is set while jobs run, or that of a node differs: no job gets lost, and no duration is wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.client import Job
from tests.clock.shifted import ShiftedClock
from tests.home import Home, homes, until

HOUR_S = 3600
DAY_S = 24 * HOUR_S
# Asked to stop, it waits for permission and then exits with code 0, as a job that saves its work would.
SAVES = "trap 'touch {0}/heard; while [ ! -e {0}/go ]; do sleep 0.01; done; exit 0' TERM; echo run >> {0}/runs; "
RUNS_ON = "[ -e {0}/go ] && exit 0; touch {0}/ready; while :; do sleep 0.01; done"


@pytest.fixture
def set_home(tmp_path: Path, shifted_clock: ShiftedClock) -> Iterator[Home]:
    """A home with two GPUs whose processes follow the shifted clock."""
    for home in homes(tmp_path / "home"):
        home.environment.update(shifted_clock.environment)
        yield home


def start_saving(home: Home, folder: Path, *options: str) -> int:
    job = home.add("-g", "2", *options, "-c", (SAVES + RUNS_ON).format(folder))
    assert until((folder / "ready").exists)
    assert until(lambda: home.client().job(job).state == "running")
    return job


@pytest.mark.parametrize("step_s", [-HOUR_S, HOUR_S], ids=["back", "forward"])
@pytest.mark.parametrize("how", ["preempted", "queue stopped"])
def test_a_requeued_job_runs_again_although_the_clock_is_set_before_it_ends(
    set_home: Home, shifted_clock: ShiftedClock, tmp_path: Path, how: str, step_s: int
) -> None:
    job = start_saving(set_home, tmp_path, "--tier", "preemptible", "--grace", "1h")
    if how == "preempted":
        set_home.add("-g", "2", "--tier", "urgent", "true")
    else:
        assert set_home.tarmac("queue", "stop", "--requeue").returncode == 0
    assert until((tmp_path / "heard").exists)
    shifted_clock.set(step_s)
    (tmp_path / "go").touch()
    if how == "queue stopped":
        assert until(lambda: set_home.client().job(job).state == "queued")
        assert set_home.tarmac("queue", "resume").returncode == 0
    assert set_home.tarmac("wait", str(job)).returncode == 0
    assert (tmp_path / "runs").read_text() == "run\nrun\n"
    ended = set_home.client().job(job)
    assert ended.attempt == 2
    assert abs(seconds(ended, "ended_at") - time.time() - step_s) < HOUR_S / 2, "the clock was really set"


def seconds(job: Job, name: str) -> float:
    at = job.seconds(name)
    assert at is not None
    return at


@pytest.mark.parametrize("step_s", [-DAY_S, DAY_S], ids=["back", "forward"])
def test_how_long_a_job_ran_does_not_depend_on_the_clock(
    set_home: Home, shifted_clock: ShiftedClock, tmp_path: Path, step_s: int
) -> None:
    job = set_home.add("-c", f"touch {tmp_path}/ready; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done")
    assert until((tmp_path / "ready").exists)
    shifted_clock.set(step_s)
    (tmp_path / "go").touch()
    (ended,) = set_home.client().wait(job, timeout_s=60)
    assert 0 <= seconds(ended, "ended_at") - seconds(ended, "started_at") < HOUR_S
    assert abs(seconds(ended, "ended_at") - time.time() - step_s) < HOUR_S, "by the clock as it is set now"


@pytest.mark.parametrize("step_s", [-DAY_S, DAY_S], ids=["back", "forward"])
def test_how_long_a_lost_job_ran_does_not_depend_on_the_clock(
    set_home: Home, shifted_clock: ShiftedClock, tmp_path: Path, step_s: int
) -> None:
    job = set_home.add("-c", f"touch {tmp_path}/ready; exec sleep 600")
    assert until((tmp_path / "ready").exists)
    running = until(lambda: (found := set_home.client().job(job)).state == "running" and found)
    shim = int(Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[1])
    shifted_clock.set(step_s)
    os.kill(shim, signal.SIGKILL)
    assert until(lambda: set_home.client().job(job).state == "unknown")
    os.kill(running.pid, signal.SIGKILL)
    (ended,) = set_home.client().wait(job, timeout_s=60)
    assert 0 <= seconds(ended, "ended_at") - seconds(ended, "started_at") < HOUR_S


@pytest.mark.parametrize("ahead_s", [-DAY_S, DAY_S], ids=["behind", "ahead"])
def test_times_of_a_node_are_by_the_clock_of_the_controller(
    tmp_path: Path, shifted_clock: ShiftedClock, ahead_s: int
) -> None:
    shifted_clock.set(ahead_s)
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    variables = ", ".join(f'{name} = "{value}"' for name, value in shifted_clock.environment.items())
    (folder / "config.toml").write_text(
        f'[[nodes]]\nname = "second"\nkind = "local"\nstate = "{tmp_path / "second"}"\n'
        f'environment = {{ TARMAC_FAKE_GPUS = "2x48G", {variables} }}\n'
    )
    for home in homes(folder):
        assert until(lambda home=home: len(home.client().gpus()) == 4)
        job = home.add("--min-gpu-mem", "40G", "true")
        (ended,) = home.client().wait(job, timeout_s=60)
        assert ended.node == "second"
        for name in ("started_at", "ended_at"):
            assert abs(seconds(ended, name) - time.time()) < HOUR_S
        assert seconds(ended, "submitted_at") <= seconds(ended, "started_at") <= seconds(ended, "ended_at")
