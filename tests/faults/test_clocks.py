"""The wall clock is set while jobs run, or that of a node differs: no job gets lost, and no duration is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
    assert set_home.client().job(job).attempt == 2
