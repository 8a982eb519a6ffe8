"""kill -9 around the retries of a job: each attempt runs once, and none is lost. Suspended owners stay suspended."""

import pytest

from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually

# The witness ends by its id: job 3 fails with exit code 4, jobs 1 and 2 succeed.
FAILING = 3


def marks(world: World, job: int, event: str = "start") -> list[int]:
    """The attempts with this mark, in order."""
    return [int(line[1]) for line in world.lines() if line[0] == str(job) and line[3] == event]


def start_failing(world: World, **asked: object) -> None:
    """Job 3 is at work, and fails when `let_go` is called."""
    world.wake()
    world.run(2)
    world.wait_for_all()
    world.hold()
    assert world.run(1, **asked) == [FAILING]
    eventually(lambda: world.state(FAILING) == "running", "it runs")


@pytest.mark.parametrize(
    "point",
    [
        "controller:before-commit",
        "controller:in-commit",
        "controller:after-commit",
        "controller:before-start",
        "controller:after-start",
        "controller:before-forget",
        "controller:after-forget",
    ],
)
def test_a_retry_is_neither_lost_nor_made_twice(world: World, point: str) -> None:
    start_failing(world, retries=2, retry_delay_s=0)
    world.kill_all("controller")
    world.let_go()
    eventually(lambda: marks(world, FAILING, "end"), "it has failed")
    world.wake_until(lambda: world.has_struck(point), TARMAC_CRASH_AT=point)
    eventually(lambda: not world.seen("controller"), "the controller is dead")
    world.wake()
    expect_all_well(world)
    assert marks(world, FAILING) == [1, 2, 3]
    seen = world.job(FAILING)
    assert [(one["attempt"], one["state"], one["exit_code"]) for one in seen["attempts"]] == [
        (1, "failed", 4),
        (2, "failed", 4),
        (3, "failed", 4),
    ]


def test_a_wait_between_attempts_survives_the_death_of_everything(world: World) -> None:
    start_failing(world, retries=1, retry_delay_s=600)
    world.let_go()
    eventually(lambda: world.state(FAILING) == "queued", "it waits for its next attempt")
    due = world.job(FAILING)["retry_at"]
    world.kill_all("controller", "agent")
    world.wake()
    seen = world.job(FAILING)
    assert (seen["state"], seen["attempt"], seen["retry_at"]) == ("queued", 1, due)
    assert "attempt 2 starts in" in seen["reason"]
    world.ask(lambda: world.client.retry(FAILING))
    expect_all_well(world)
    assert marks(world, FAILING) == [1, 2]


@pytest.mark.parametrize("point", ["controller:before-commit", "controller:after-commit", "controller:before-answer"])
def test_a_retry_by_hand_is_carried_out_once(world: World, point: str) -> None:
    world.wake()
    (job,) = world.run(1)
    world.wait_for_all()
    world.kill_all("controller")
    world.wake(TARMAC_CRASH_AT=point)
    world.try_once(lambda: world.client.retry(job))
    eventually(lambda: not world.seen("controller"), "the controller is dead")
    world.wake()
    if point == "controller:before-commit":
        assert (world.job(job)["attempt"], world.state(job)) == (1, "succeeded"), "nothing was acknowledged"
        world.ask(lambda: world.client.retry(job))
    world.wait_for_all()
    assert marks(world, job) == [1, 2]
    assert [one["state"] for one in world.job(job)["attempts"]] == ["succeeded", "succeeded"]


def test_a_suspended_owner_stays_suspended_after_a_restart(world: World) -> None:
    world.wake()
    world.ask(lambda: world.client.set("suspend_after_failures", 1))
    world.run(3)
    world.wait_for_all()
    (waiting,) = world.run(1)
    reason = world.job(waiting)["reason"]
    assert "the last 1 job of" in reason
    world.kill_all("controller", "agent")
    world.wake()
    assert (world.state(waiting), world.job(waiting)["reason"]) == ("queued", reason)
    world.ask(world.client.resume_queue)
    expect_all_well(world)


@pytest.mark.parametrize("retry_on", [["lost"], ["exit"]], ids=["asked for", "not asked for"])
def test_a_lost_attempt_is_tried_again_once_its_processes_are_gone(world: World, retry_on: list[str]) -> None:
    world.wake()
    world.hold()
    (job,) = world.run(1, retries=1, retry_on=retry_on)
    eventually(lambda: world.state(job) == "running" and marks(world, job), "it runs")
    world.kill_all("shim")
    eventually(lambda: world.state(job) == "unknown", "nobody knows how it ends")
    assert marks(world, job) == [1], "it still runs"
    world.let_go()
    if retry_on == ["exit"]:
        eventually(lambda: world.job(job)["ended_at"], "it is over")
        assert world.state(job) == "unknown"
        world.ask(lambda: world.client.retry(job))
    eventually(lambda: world.state(job) == "succeeded", "its second attempt ends")
    assert marks(world, job) == [1, 2]
    assert [one["state"] for one in world.job(job)["attempts"]] == ["unknown", "succeeded"]
