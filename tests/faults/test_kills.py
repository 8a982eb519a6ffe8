"""Jobs killed by other processes while Tarmac runs: the next job on the same GPU is not affected."""

from tarmac.errors import Conflict
from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually


def test_all_is_well_without_any_kill(world: World) -> None:
    world.wake()
    world.run(8, ms=5)
    world.run(2, gpus=2, ms=5, leave="straggler")
    world.run(2, gpus=0, ms=5, leave="detached")
    assert expect_all_well(world).unknown == 0


def test_a_stop_does_not_hit_later_jobs(world: World) -> None:
    world.wake()
    for _ in range(4):
        world.run(3, ms=20)
        world.stop(world.run(1, ms=600_000)[0])
        world.run(5)
        world.stop(world.run(1, ms=600_000)[0], grace_s=0.05)
    assert expect_all_well(world).unknown == 0


def test_a_job_killed_by_another_process_failed_by_signal_9(world: World) -> None:
    world.wake()
    world.hold()
    first, second = world.run(2)
    world.kill_job(first)
    eventually(lambda: world.state(first) == "failed", "the killed job has failed")
    assert world.job(first)["signal"] == 9
    eventually(lambda: world.state(second) == "running", "the other job runs")  # it may start later than the first ends
    world.let_go()
    expect_all_well(world)


def test_a_job_removed_as_it_starts_runs_to_its_end_or_not_at_all(world: World) -> None:
    world.wake()
    removed: list[int] = []
    for _ in range(10):
        world.run(4)
        for number in world.run(4):
            try:
                removed += world.client.rm(number)
            except Conflict:
                continue  # it runs, or it was stopped because it started during its removal
    world.wait_for_all()
    world.removed.update(removed)
    world.acknowledged = [number for number in world.acknowledged if number not in removed]
    world.stopped.update(number for number in world.acknowledged if world.state(number) == "cancelled")
    ran = [(line[0], line[3]) for line in world.lines() if int(line[0]) in removed]
    assert sorted(job for job, event in ran if event == "start") == sorted(job for job, event in ran if event == "end")
    expect_all_well(world)
