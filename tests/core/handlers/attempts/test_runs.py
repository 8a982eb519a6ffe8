"""An attempt that reached its time limit fails with that reason, regardless of its exit."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.model.names import Memory, Outside
from tarmac.core.model.status import Cancelled, Failed
from tests.core.support.builders import a_spec
from tests.core.support.scene import Scene

ENDS: list[dict[str, Any]] = [{"exit_code": 0}, {"exit_code": 3}, {"exit_code": None, "signal": 9}]


@pytest.mark.parametrize("end", ENDS)
def test_a_job_that_reached_its_time_limit_has_failed(end: dict[str, Any]) -> None:
    scene = Scene()
    scene.run(a_spec(time_limit_s=60.0))
    scene.finish(1, timed_out=True, **end)
    status = scene.status(1)
    assert isinstance(status, Failed)
    assert (status.reason, status.exit_code, status.signal) == ("timeout", end["exit_code"], end.get("signal"))


def test_a_time_limit_counts_before_the_start_was_reported() -> None:
    scene = Scene()
    scene.submit(a_spec(time_limit_s=60.0))
    scene.finish(1, timed_out=True)
    assert scene.status(1).reason == "timeout"  # type: ignore[union-attr]


def test_a_preempted_job_that_reaches_its_limit_does_not_run_again() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(time_limit_s=60.0, tier="preemptible"))
    scene.submit()
    assert scene.state_of(1) == "stopping"
    scene.finish(1, timed_out=True)
    assert scene.status(1).reason == "timeout"  # type: ignore[union-attr]


def test_a_stopped_job_that_reaches_its_limit_is_cancelled() -> None:
    scene = Scene()
    scene.run(a_spec(time_limit_s=60.0))
    scene.stop(1)
    scene.finish(1, exit_code=None, signal=9, timed_out=True)
    assert isinstance(scene.status(1), Cancelled)


@pytest.mark.parametrize("state", ["starting", "running"])
def test_a_stop_that_could_not_be_written_cancels_the_job(state: str) -> None:
    """Its node signalled it while the disk was full."""
    scene = Scene(gpus=1)
    scene.submit() if state == "starting" else scene.run()
    assert scene.state_of(1) == state
    scene.finish(1, exit_code=None, signal=15, was_signalled=True)
    assert scene.state_of(1) == "cancelled"


def test_an_exit_has_the_time_it_happened() -> None:
    scene = Scene(gpus=1)
    scene.run()
    ended_at = scene.now
    scene.now += 3600
    scene.finish(1, ended_at=ended_at)
    (told,) = [line for line in scene.state.changes.story if line.kind == "JobExited"]
    assert told.at == ended_at


@pytest.mark.parametrize(
    ("oom", "outside", "reason"),
    [
        ("gpu", None, "oom-gpu"),
        ("host", "killed", "oom-host"),
        (None, "killed", "killed"),
        (None, "disk-full", "disk-full"),
        (None, "suspend", "suspend"),
        (None, None, "signal"),
    ],
)
def test_the_node_names_the_reason(oom: Memory | None, outside: Outside | None, reason: str) -> None:
    scene = Scene()
    scene.run()
    scene.finish(1, exit_code=None, signal=9, oom=oom, outside=outside, error_line="the line")
    status = scene.status(1)
    assert isinstance(status, Failed)
    assert (status.reason, status.signal, status.error_line) == (reason, 9, "the line")


def test_a_time_limit_counts_more_than_what_the_node_names() -> None:
    scene = Scene()
    scene.run(a_spec(time_limit_s=60.0))
    scene.finish(1, exit_code=None, signal=9, timed_out=True, oom="gpu", outside="killed")
    assert scene.status(1).reason == "timeout"  # type: ignore[union-attr]


def test_exit_code_0_has_no_reason() -> None:
    scene = Scene()
    scene.run()
    scene.finish(1, exit_code=0, oom="gpu", outside="disk-full")
    assert type(scene.status(1)).__name__ == "Succeeded"
