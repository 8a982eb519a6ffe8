"""kill -9 of the controller around requeued jobs and their dependents: each runs once, to its end.

All tests use one machine with four GPUs; a preemptible job that holds them all blocks every later job.
"""

import pytest

from tests.agent_peer import is_alive
from tests.faults.books import story_of
from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually

PREEMPTIBLE = {"gpus": 4, "tier": "preemptible", "grace_s": 0.3}


def start_preemptible(world: World, count: int = 1, **asked: object) -> list[int]:
    """Start preemptible jobs that run until `let_go` or a preemption."""
    world.hold()
    jobs = world.run(count, **{**PREEMPTIBLE, "gpus": 4 // count, **asked})
    eventually(lambda: set(world.started()) >= set(jobs), "they are at work")
    eventually(lambda: all(world.state(job) == "running" for job in jobs), "and Tarmac knows")
    return jobs


def strike_on_the_next(world: World, point: str, question: object) -> None:
    """Restart the controller with this crash point, and send one request, which may kill it."""
    world.kill_all("controller")
    world.wake(TARMAC_CRASH_AT=point)
    assert not world.has_struck(point), "finding the jobs again does not reach it"
    world.try_once(question)  # type: ignore[arg-type]
    eventually(lambda: world.has_struck(point), f"{point} is reached")
    eventually(lambda: not world.seen("controller"), "the controller is dead")


def marks(world: World, job: int, event: str = "start") -> list[int]:
    """The attempts with this mark, in order."""
    return [int(line[1]) for line in world.lines() if line[0] == str(job) and line[3] == event]


def told(world: World, job: int, kind: str) -> int:
    return sum(line.key[0] == job and line.kind == kind for line in story_of(world).lines)


@pytest.mark.parametrize("words", [[], ["stubborn"]], ids=["obeys", "ignores the signal"])
@pytest.mark.parametrize("point", ["controller:before-signal", "controller:after-signal"])
def test_a_preempted_job_is_signalled_after_the_restart_and_requeued_once(
    world: World, point: str, words: list[str]
) -> None:
    world.wake()
    (preempted,) = start_preemptible(world, words=words)
    urgent = world.requests(1, gpus=4, tier="urgent")
    submit = lambda: world.client.submit_many(urgent, environment={}, token="urgent")  # noqa: E731
    strike_on_the_next(world, point, submit)
    assert told(world, preempted, "Preempted") == 1, "the preemption is committed"
    if point == "controller:before-signal":
        assert is_alive(world.pid_of(preempted)), "and it was not signalled"
    (first,) = world.submit(urgent, "urgent")
    eventually(lambda: world.state(first) == "running", "it was preempted")
    world.let_go()
    expect_all_well(world)
    assert marks(world, preempted) == [1, 2]
    assert told(world, preempted, "Preempted") == 1
    assert world.job(preempted)["attempt"] == 2


def test_a_requeued_job_survives_a_restart(world: World) -> None:
    world.wake()
    (preempted,) = start_preemptible(world)
    (first,) = world.run(1, gpus=4, tier="urgent")
    eventually(lambda: world.state(preempted) == "queued" and world.state(first) == "running", "it was preempted")
    place = world.job(preempted)["position"]
    world.kill_all("controller", "agent")
    world.wake()
    assert (world.state(preempted), world.job(preempted)["position"], world.job(preempted)["attempt"]) == (
        "queued",
        place,
        1,
    )
    world.let_go()
    expect_all_well(world)
    assert marks(world, preempted) == [1, 2]


@pytest.mark.parametrize("point", ["controller:before-start", "controller:after-start", "controller:after-forget"])
def test_the_next_attempt_of_a_preempted_job_starts_once(world: World, point: str) -> None:
    """The controller dies after it decided the next attempt."""
    world.wake()
    (preempted,) = start_preemptible(world)
    (first,) = world.run(1, gpus=4, tier="urgent")
    eventually(lambda: world.state(first) == "running" and first in world.started(), "it was preempted")
    world.run(1, gpus=4, tier="preemptible")
    strike_on_the_next(world, point, world.let_go)
    expect_all_well(world)
    assert marks(world, preempted) == [1, 2]
    assert world.job(preempted)["attempt"] == 2


@pytest.mark.parametrize(
    "point",
    [
        "controller:before-commit",
        "controller:after-commit",
        "controller:before-signal@2",
        "controller:before-answer",
    ],
)
def test_stopping_the_queue_requeues_each_job_once(world: World, point: str) -> None:
    world.wake()
    jobs = start_preemptible(world, 2, tier="normal", words=["stubborn"])
    waiting = world.run(1, gpus=4)
    strike_on_the_next(world, point, lambda: world.client.stop_queue(grace_s=0.2))
    is_kept = point != "controller:before-commit"
    assert world.ask(world.client.queue)["paused"] is is_kept
    if not is_kept:
        assert [world.state(job) for job in jobs] == ["running", "running"], "nothing was begun of it"
        world.ask(lambda: world.client.stop_queue(grace_s=0.2))
    eventually(lambda: [world.state(job) for job in jobs] == ["queued", "queued"], "both are back")
    assert [world.job(job)["position"] for job in (*jobs, *waiting)] == [1, 2, 3]
    assert [told(world, job, "QueueStopped") for job in jobs] == [1, 1]
    world.let_go()
    assert sorted(world.started()) == jobs, "nothing starts while it is paused"
    world.ask(world.client.resume_queue)
    expect_all_well(world)
    assert [marks(world, job) for job in jobs] == [[1, 2], [1, 2]]


def test_the_controller_answers_while_short_jobs_wait_for_gpus_of_a_stopping_job(world: World) -> None:
    """Two GPUs are free and fit the short jobs, but all four are planned for a start at an unknown time."""
    world.wake()
    world.run(2, ms=20, name="short")
    world.wait_for_all()
    (preempted,) = start_preemptible(world, gpus=2, words=["stubborn"], grace_s=2.0)
    (wide,) = world.run(1, gpus=4)
    eventually(lambda: told(world, preempted, "Preempted"), "it is preempted")
    world.let_go()
    short = world.run(3, ms=20, name="short")
    eventually(lambda: world.state(wide) == "succeeded", "the wide one has had its room")
    expect_all_well(world)
    assert min(map(world.started().index, short)) > world.started().index(wide), "nobody got in before"


@pytest.mark.parametrize("killed", [("controller",), ("controller", "agent")], ids=" and ".join)
@pytest.mark.parametrize("is_over_before", [False, True], ids=["ends later", "ends unwatched"])
def test_a_dependency_survives_a_restart(world: World, killed: tuple[str, ...], is_over_before: bool) -> None:
    world.wake()
    (first,) = start_preemptible(world, gpus=1)
    ways = ("ok", "any", "fail")
    after = [world.run(1, after=[f"{first}:{on}"], words=[f"after:{first}"])[0] for on in ways]
    (last,) = world.run(1, after=[f"{after[2]}:any"], words=[f"after:{after[2]}"])
    world.kill_all(*killed)
    if is_over_before:
        world.let_go()
        eventually(lambda: marks(world, first, "end"), "it has ended, and nobody was told")
    world.wake()
    if not is_over_before:
        assert [world.state(job) for job in (*after, last)] == ["queued"] * 4
        world.let_go()
    expect_all_well(world)
    assert [world.job(job)["reason"] for job in after][2] == "dependency"
    assert set(world.started()) == {first, after[0], after[1], last}


@pytest.mark.parametrize("point", ["controller:before-commit", "controller:after-commit", "controller:before-start"])
def test_a_dependent_starts_once_although_the_controller_dies(world: World, point: str) -> None:
    world.wake()
    (first,) = start_preemptible(world, gpus=1)
    (second,) = world.run(1, after=[f"{first}:ok"], words=[f"after:{first}"])
    strike_on_the_next(world, point, world.let_go)
    expect_all_well(world)
    assert (marks(world, first), marks(world, second)) == ([1], [1])
