"""Acknowledged submits are stored, others completely or not at all, and a retry creates no second set."""

import sqlite3

import pytest

from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually


def rows(world: World) -> int:
    path = world.home.path / "tarmac.db"
    if not path.exists():
        return 0
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(database.execute("SELECT count(*) FROM jobs").fetchone()[0])
    finally:
        database.close()


def test_a_job_acknowledged_just_before_a_kill_is_not_lost(world: World) -> None:
    world.wake()
    for _ in range(3):
        world.run(2, gpus=0)
        world.kill_all("controller")
    world.wake()
    verdict = expect_all_well(world)
    assert (verdict.jobs, verdict.lost) == (6, [])


@pytest.mark.parametrize(
    ("point", "kept"),
    [("controller:before-commit", 0), ("controller:in-commit", 0), ("controller:after-commit", 1000)],
)
def test_an_interrupted_array_is_complete_or_absent(world: World, point: str, kept: int) -> None:
    world.wake(TARMAC_CRASH_AT=point)
    requests = [{"command": ["/bin/true"], "gpus": 4, "cwd": "/"}] * 1000

    def submit() -> list[int]:
        return world.client.submit_many(requests, environment={}, token="array")  # type: ignore[arg-type]

    assert world.try_once(submit) is None, "it was not acknowledged"
    eventually(lambda: not world.seen("controller"), "the controller is dead")
    assert rows(world) == kept
    ids = world.ask(submit)
    assert len(ids) == 1000
    assert rows(world) == 1000
    assert world.ask(submit) == ids
    world.client.kill("all", grace_s=0)
    world.wait_for_all()


def test_an_array_submit_killed_at_any_moment_creates_one_set(world: World) -> None:
    """Kill the controller without a crash point, while it reads, checks or stores the request."""
    requests = [{"command": ["/bin/true"], "gpus": 4, "cwd": "/", "name": "x" * 500}] * 1000
    for number, delay_s in enumerate((0.0, 0.01, 0.02, 0.04)):
        world.wake()
        with world.kill_after(delay_s, "controller"):
            ids = world.ask(
                lambda token=f"try {number}": world.client.submit_many(requests, environment={}, token=token)  # type: ignore[arg-type,misc]
            )
        assert len(ids) == 1000
        assert rows(world) == 1000 * (number + 1)
    world.ask(lambda: world.client.kill("all", grace_s=0))
    world.wait_for_all()
