"""A paused job stays paused, and goes on when it is resumed, whichever of Tarmac's processes die meanwhile."""

from pathlib import Path

import pytest

from tests.agent_peer import is_alive
from tests.faults.world import World, eventually
from tests.home import until

LIMIT_S = 5.0
DOWN = [("controller",), ("agent",), ("controller", "agent")]
TICKS = "while :; do echo >> {}; sleep 0.01; done"


def start(world: World, ticks: Path, **more: object) -> int:
    job: int = world.client.submit(TICKS.format(ticks), **more).id  # type: ignore[arg-type]
    eventually(lambda: world.state(job) == "running" and ticks.exists(), "it runs")
    return job


def is_still(ticks: Path) -> bool:
    before = ticks.stat().st_size
    return not until(lambda: ticks.stat().st_size > before, 0.3)


def goes_on(ticks: Path) -> bool:
    before = ticks.stat().st_size
    return bool(until(lambda: ticks.stat().st_size > before, 20))


@pytest.mark.parametrize("killed", DOWN, ids=" and ".join)
def test_a_pause_survives(contained: World, killed: tuple[str, ...], tmp_path: Path) -> None:
    world, ticks = contained, tmp_path / "ticks"
    job = start(world, ticks, gpus=1, time_limit_s=LIMIT_S)
    world.client.pause_jobs(job)
    eventually(lambda: is_still(ticks), "it is frozen")
    for kind in killed:
        assert world.kill(kind)
    assert not until(lambda: not is_still(ticks), LIMIT_S), "frozen for longer than its limit"
    world.wake()
    eventually(lambda: world.state(job) == "paused", "it is seen paused again")
    assert is_still(ticks)
    assert world.job(job)["gpus"]
    world.ask(lambda: world.client.resume_jobs(job))
    assert goes_on(ticks)
    ended = world.ask(lambda: world.client.wait(job, 60))[0]
    assert (ended.state, ended.reason) == ("failed", "timeout")
    assert ended.pause_s >= LIMIT_S


def test_a_pause_that_did_not_reach_the_agent_is_made_up_for(contained: World, tmp_path: Path) -> None:
    world, ticks = contained, tmp_path / "ticks"
    job = start(world, ticks, gpus=1)
    assert world.kill("agent")
    world.client.pause_jobs(job)  # the agent may or may not be back by now
    eventually(lambda: is_still(ticks), "it is frozen")
    assert world.kill("agent")
    world.client.resume_jobs(job)
    assert goes_on(ticks)
    world.stop(job)


def test_a_paused_job_can_be_killed_after_everything_restarted(contained: World, tmp_path: Path) -> None:
    world, ticks = contained, tmp_path / "ticks"
    job = start(world, ticks, gpus=1)
    pid = world.job(job)["pid"]
    world.client.pause_jobs(job)
    eventually(lambda: is_still(ticks), "it is frozen")
    world.kill_all("controller", "agent")
    world.wake()
    world.stop(job, grace_s=10.0)
    assert world.ask(lambda: world.client.wait(job, 60))[0].state == "cancelled"
    assert not is_alive(pid)


def test_tarmac_stop_leaves_a_paused_job_alone(contained: World, tmp_path: Path) -> None:
    world, ticks = contained, tmp_path / "ticks"
    job = start(world, ticks, gpus=1)
    world.client.pause_jobs(job)
    eventually(lambda: is_still(ticks), "it is frozen")
    assert world.home.tarmac("stop").returncode == 0
    assert is_still(ticks)
    world.wake()
    assert world.state(job) == "paused"
    world.ask(lambda: world.client.resume_jobs(job))
    assert goes_on(ticks)
    world.stop(job)
