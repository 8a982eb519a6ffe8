"""kill -9 of Tarmac's processes while jobs run, reboots, stops and upgrades: jobs continue with exact outcomes."""

import os
import signal
import subprocess
import sys

import pytest

from tests.agent_peer import is_alive
from tests.faults.judge import expect_all_well
from tests.faults.world import World, eventually

OLD_AGENT = """
import sys, tarmac, tarmac.shared.protocol
{change}
from tarmac.agent.main import main
sys.exit(main(sys.argv[1:]))
"""
OLD_VERSION, OLD_PROTOCOL = 'tarmac.__version__ = "0.0.9"', "tarmac.shared.protocol.PROTOCOL = 1"
DOWN = [("controller",), ("agent",), ("controller", "agent")]


def hold_jobs(world: World, count: int = 2) -> list[int]:
    """Running jobs that end when `let_go` is called."""
    world.hold()
    jobs = world.run(count)
    eventually(lambda: all(world.state(job) == "running" for job in jobs), "the jobs run")
    return jobs


def start_old_agent(world: World, change: str = OLD_VERSION) -> subprocess.Popen[bytes]:
    ready, theirs = os.pipe()
    words = ["--state", str(world.home.path), "--ready-fd", str(theirs)]
    old = subprocess.Popen(
        [sys.executable, "-c", OLD_AGENT.format(change=change), *words],
        env=world.home.environment,
        pass_fds=[theirs],
        start_new_session=True,
    )
    os.close(theirs)
    assert os.read(ready, 100) == b"ready\n"
    os.close(ready)
    return old


@pytest.mark.parametrize("killed", DOWN, ids=" and ".join)
def test_jobs_continue_without_the_controller_or_the_agent(world: World, killed: tuple[str, ...]) -> None:
    world.wake()
    jobs = hold_jobs(world)
    pids = [world.pid_of(job) for job in jobs]
    for kind in killed:
        assert world.kill(kind)
    world.wake()
    eventually(lambda: [world.state(job) for job in jobs] == ["running"] * 2, "they are seen running again")
    assert all(is_alive(pid) for pid in pids)
    world.run(4)
    world.let_go()
    assert expect_all_well(world).unknown == 0


def test_a_job_that_ends_unwatched_has_its_exact_end(contained: World) -> None:
    world = contained
    jobs = hold_jobs(world, 4)
    waiting = world.run(3)
    world.kill_all("controller", "agent")
    world.let_go()
    eventually(lambda: not world.seen("shim"), "the jobs have ended")
    assert sorted(world.started()) == jobs
    world.wake()
    expect_all_well(world)
    assert sorted(world.started()) == sorted(jobs + waiting)


def test_a_job_whose_shim_was_killed_is_unknown_and_keeps_its_gpus_until_it_is_gone(contained: World) -> None:
    world = contained
    world.hold()
    (job,) = world.run(1, gpus=4)
    eventually(lambda: world.state(job) == "running", "it runs")
    assert world.kill("shim", job)
    eventually(lambda: world.state(job) == "unknown", "it is unknown")
    assert is_alive(world.pid_of(job))
    (after,) = world.run(1)
    assert world.state(after) == "queued"
    world.kill_all("controller", "agent")
    world.wake()
    assert world.state(after) == "queued"
    world.let_go()
    assert expect_all_well(world).unknown == 1


@pytest.mark.parametrize("leave", ["straggler", "detached"])
def test_processes_left_by_a_job_without_its_shim_are_killed(contained: World, leave: str) -> None:
    world = contained
    world.hold()
    (job,) = world.run(1, gpus=4, leave=leave)
    eventually(lambda: world.state(job) == "running", "it runs")
    world.pid_of(job)
    assert world.kill("shim", job)
    (after,) = world.run(1)
    world.let_go()
    expect_all_well(world)
    assert after in world.started()


def test_a_stop_is_carried_out_although_shim_agent_and_controller_die(world: World) -> None:
    world.wake()
    (job,) = world.run(1, ms=600_000)
    world.pid_of(job)
    world.stop(job, grace_s=600)  # the job would stop at once without the following kills
    world.kill_all("shim", "agent", "controller")
    world.wake()
    world.wait_for_all()
    assert not is_alive(world.pid_of(job))


def test_after_a_reboot_running_jobs_are_unknown_and_waiting_ones_run(world: World) -> None:
    world.wake()
    jobs = hold_jobs(world, 4)
    waiting = world.run(3)
    world.cut_power()
    world.let_go()
    world.wake()
    expect_all_well(world)
    assert sorted(world.started()) == sorted(jobs + waiting), "nothing was started again"
    assert "restarted" in world.job(jobs[0])["message"]


def test_running_jobs_survive_stop_and_start(world: World) -> None:
    world.wake()
    jobs = hold_jobs(world)
    assert world.home.tarmac("stop").returncode == 0
    assert not world.seen("controller")
    assert not world.seen("agent")
    assert all(is_alive(world.pid_of(job)) for job in jobs)
    world.wake()
    assert [world.state(job) for job in jobs] == ["running", "running"]
    world.let_go()
    assert expect_all_well(world).unknown == 0


@pytest.mark.parametrize("change", [OLD_VERSION, OLD_PROTOCOL])
def test_an_agent_of_another_version_is_replaced_and_its_jobs_continue(world: World, change: str) -> None:
    world.wake()
    jobs = hold_jobs(world)
    world.home.tarmac("stop")
    old = start_old_agent(world, change)
    world.wake()
    assert old.wait(20) == 0, "it ended when it was told to"
    eventually(lambda: world.seen("agent"), "there is a new agent")
    assert [world.state(job) for job in jobs] == ["running", "running"]
    world.run(3)
    world.let_go()
    assert expect_all_well(world).unknown == 0


def test_two_first_commands_at_once_start_one_controller(world: World) -> None:
    commands = [world.home.start("status", "--json") for _ in range(4)]
    said = [command.communicate(timeout=60) for command in commands]
    assert [command.returncode for command in commands] == [0] * 4, said
    assert len({out.split(b'"controller_pid": ')[1].split(b",")[0] for out, _ in said}) == 1
    eventually(lambda: len(world.seen("controller")) == 1, "the others have left it to the one")
    assert len(world.seen("agent")) == 1


def test_a_command_takes_over_from_a_controller_that_dies_before_it_listens(world: World) -> None:
    """The second controller finds the lock of the first, which never answers."""
    first = world.home.start("status", "--json")
    eventually(lambda: world.seen("controller"), "the first controller is on its way")
    second = world.home.start("status", "--json")
    eventually(lambda: len(world.seen("controller")) > 1, "so is the second")
    world.kill_one(min(world.seen("controller"), key=lambda one: one.pid))
    out, err = second.communicate(timeout=60)
    first.communicate(timeout=60)
    assert second.returncode == 0, (out, err)
    eventually(lambda: len(world.seen("controller")) == 1, "there is one controller")


def test_a_controller_continues_if_its_starter_was_interrupted(world: World) -> None:
    command = world.home.start("status")
    eventually(lambda: world.seen("controller"), "the controller is on its way")
    command.kill()
    command.communicate()
    eventually(lambda: "listens" in world.log_of("controller"), "it listens although nobody waits for it")
    world.wake()
    assert len(world.seen("controller")) == 1
    assert "Traceback" not in world.log_of("controller")


def test_an_unreported_start_is_not_repeated_although_the_shim_died(world: World) -> None:
    """Only its start record is left."""
    world.hold()
    world.wake(TARMAC_CRASH_AT="agent:before-report")
    (job,) = world.run(1)
    world.pid_of(job)
    eventually(lambda: world.has_struck("agent:before-report"), "the agent dies before it says so")
    world.kill_all("controller", "agent", "shim")
    os.kill(world.pid_of(job), signal.SIGKILL)
    world.let_go()
    world.wake()
    assert expect_all_well(world).unknown == 1
    assert world.started() == [job]
