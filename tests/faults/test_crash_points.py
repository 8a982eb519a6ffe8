"""Each process dies once at each of its crash points; after the restart, the state is correct."""

import re
from pathlib import Path

import pytest

import tarmac
from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually

SOURCE = Path(tarmac.__file__).parent
NAMED = {
    name for file in SOURCE.rglob("*.py") for name in re.findall(r'crashpoint\.reach\("([^"]+)"\)', file.read_text())
}
# At these points the end of one job is unknown: its start was recorded, its exit was not.
UNKNOWABLE = {
    "shim:after-start-record",
    "shim:before-release",
    "shim:after-release",
    "shim:after-exec",
    "shim:before-exit-record",
}
# The job's process dies, not the shim, just before it executes the command, as if a user had killed the job.
OF_THE_JOB = "shim:before-exec"
# Reached only with nodes on other machines. tests/ssh/test_code.py kills the controller while code travels, but not at
# these very points.
ELSEWHERE = {"controller:before-objects", "controller:after-objects"}
CONTROLLER = sorted(name for name in NAMED - ELSEWHERE if name.startswith("controller:"))
AGENT = sorted(name for name in NAMED if name.startswith("agent:"))
SHIM = sorted(name for name in NAMED if name.startswith("shim:") and name != OF_THE_JOB)
UNDER_SCAN = (
    "agent:after-fork",
    "shim:after-fork",
    "shim:after-release",
    "shim:before-exit-record",
    "shim:before-report",
)


def submit_until_it_strikes(world: World, point: str) -> None:
    """Run jobs of each kind, one of them stopped by a user, until the log shows that the point was reached."""
    world.wake_until(lambda: world.has_struck(point), TARMAC_CRASH_AT=point)
    token = f"at {point}"
    requests = [
        *world.requests(1, ms=600_000),
        *world.requests(4, ms=5),
        *world.requests(1, gpus=4, leave="straggler"),
        *world.requests(2, gpus=0, leave="detached"),
    ]
    ids = world.try_once(lambda: world.client.submit_many(requests, environment={}, token=token))  # type: ignore[arg-type]
    if ids is not None:
        world.try_once(lambda: world.client.kill(ids[0], grace_s=0))
    eventually(lambda: world.has_struck(point), f"{point} is reached")
    world.kill_all("controller", "agent")
    ids = world.submit(requests, token)
    world.stop(ids[0])


@pytest.mark.parametrize("point", CONTROLLER)
def test_the_controller_dies_and_nothing_is_lost_or_done_twice(world: World, point: str) -> None:
    submit_until_it_strikes(world, point)
    assert expect_all_well(world).unknown == 0


@pytest.mark.parametrize("point", AGENT)
def test_the_agent_dies_and_nothing_is_lost_or_done_twice(world: World, point: str) -> None:
    submit_until_it_strikes(world, point)
    assert expect_all_well(world).unknown == 0


def unknown_jobs(world: World) -> int:
    """All is well except for these: their shims killed themselves."""
    world.wait_for_all()
    unknown = [job["id"] for page in world.client.pages({"state": "unknown"}) for job in page]
    world.bereft.update(unknown)
    expect_all_well(world)
    return len(unknown)


@pytest.mark.parametrize("point", SHIM)
def test_a_shim_dies_and_its_job_is_unknown_only_if_its_end_cannot_be_known(world: World, point: str) -> None:
    submit_until_it_strikes(world, point)
    assert unknown_jobs(world) == (point.partition("@")[0] in UNKNOWABLE)


@pytest.mark.parametrize("point", UNDER_SCAN)
def test_the_same_holds_without_cgroups(world: World, point: str) -> None:
    world.home.environment["TARMAC_CONTAINMENT"] = "scan"
    submit_until_it_strikes(world, point)
    assert unknown_jobs(world) == (point.partition("@")[0] in UNKNOWABLE)


@pytest.mark.parametrize("point", ["controller:after-commit@3", "agent:after-report@5", "shim:after-exec@4"])
def test_a_crash_point_may_strike_later(world: World, point: str) -> None:
    submit_until_it_strikes(world, point)
    assert unknown_jobs(world) == (point.partition("@")[0] in UNKNOWABLE)


def test_every_process_has_points_around_commit_fork_records_and_release() -> None:
    assert {"controller:before-commit", "controller:in-commit", "controller:after-commit"} <= NAMED
    assert {"agent:before-fork", "agent:after-fork", "agent:before-forget", "agent:after-forget"} <= NAMED
    for what in ("fork", "start-record", "release", "exit-record", "report"):
        assert {f"shim:before-{what}", f"shim:after-{what}"} <= NAMED
