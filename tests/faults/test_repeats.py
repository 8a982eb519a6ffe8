"""The controller is killed during a request: the command repeats it and ends as if nothing had happened."""

import os
import signal

import pytest

from tarmac.client import Client
from tests.faults.world import World, eventually
from tests.home import is_connected

POINTS = ("controller:before-commit", "controller:in-commit", "controller:after-commit", "controller:before-answer")


def jobs(world: World, **query: str) -> list[int]:
    return [job["id"] for page in world.client.pages({"fields": "id", **query}) for job in page]


@pytest.mark.parametrize("point", POINTS)
def test_add_queues_one_job_and_prints_its_id(world: World, point: str) -> None:
    world.wake(TARMAC_CRASH_AT=point)
    assert not world.has_struck(point)
    done = world.home.tarmac("add", "-g", "0", "--hold", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert jobs(world) == [int(done.stdout)]
    assert world.has_struck(point)


@pytest.mark.parametrize("point", POINTS)
def test_run_runs_one_job_and_shows_its_output(world: World, point: str) -> None:
    world.wake(TARMAC_CRASH_AT=point)
    done = world.home.tarmac("run", "-g", "0", "echo", "once")
    assert (done.returncode, done.stdout) == (0, "once\n"), done.stderr
    assert len(jobs(world)) == 1
    assert world.has_struck(point)


VERBS = {
    "kill": ("kill", "1"),
    "kill last": ("kill", "last"),
    "rm": ("rm", "1"),
    "hold": ("hold", "1"),
    "release": ("release", "1"),
    "edit": ("edit", "1", "-p", "3"),
    "edit many": ("edit", "1-2", "-p", "3"),
    "start": ("start", "1"),
    "reserve": ("reserve", "1", "--from", "in 3h", "--for", "1h"),
    "set": ("set", "max_load", "0.3"),
    "queue pause": ("queue", "pause"),
    "gpu drain": ("gpu", "drain", "0"),
    "ignore": ("gpu", "ignore-process", "some-program"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_changes_something_succeeds_once(world: World, verb: str) -> None:
    world.home.tarmac("add", "-g", "0", "--hold", "true")
    world.home.tarmac("stop")
    world.wake(TARMAC_CRASH_AT="controller:after-commit")
    done = world.home.tarmac(*VERBS[verb])
    assert (done.returncode, done.stderr) == (0, ""), (done, world.log_of("controller"))
    assert len(world.client.reservations()) == (verb == "reserve")


@pytest.mark.parametrize("verb", ["rm", "retry"])
def test_a_verb_about_very_many_jobs_goes_on_where_it_was(world: World, verb: str) -> None:
    world.home.tarmac("add", "-g", "0", "--hold", "--array", "1-11000", "true")
    if verb == "retry":
        world.home.tarmac("queue", "pause")
        world.home.tarmac("kill", "1-11000")
    world.home.tarmac("stop")
    point = "controller:in-commit"
    world.wake(TARMAC_CRASH_AT=f"{point}@3")  # in the second part; the first commit keeps which jobs are selected
    done = world.home.tarmac(verb, "1-11000")
    assert done.returncode == 0, (done, world.log_of("controller"))
    assert world.has_struck(point)
    assert len(jobs(world, state="queued")) == (0 if verb == "rm" else 11000)
    assert len(jobs(world)) == (0 if verb == "rm" else 11000)


def test_stop_ends_the_agent_although_the_controller_is_killed(world: World) -> None:
    world.wake()
    (controller,) = world.seen("controller")
    os.kill(controller.pid, signal.SIGSTOP)
    command = world.home.start("stop")
    eventually(lambda: is_connected(command.pid), "it has asked")
    world.kill_all("controller")
    command.communicate(timeout=60)
    assert command.returncode == 0
    eventually(lambda: not world.seen("agent") and not world.seen("controller"), "both are gone")


def test_a_read_is_answered_by_the_next_controller(world: World) -> None:
    world.home.tarmac("add", "-g", "0", "--hold", "true")
    (controller,) = world.seen("controller")
    os.kill(controller.pid, signal.SIGSTOP)
    command = world.home.start("ls", "--json")
    eventually(lambda: is_connected(command.pid), "it has asked")
    world.kill_all("controller")
    out, err = command.communicate(timeout=60)
    assert (command.returncode, err) == (0, b"")
    assert b'"id":' in out.replace(b" ", b"")


def test_ctrl_c_says_that_the_outcome_is_unknown(world: World) -> None:
    world.wake()
    (controller,) = world.seen("controller")
    os.kill(controller.pid, signal.SIGSTOP)
    command = world.home.start("add", "-g", "0", "--hold", "true")
    eventually(lambda: is_connected(command.pid), "it has asked")
    eventually(lambda: _has_sent(command.pid), "it waits for the answer")
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out) == (130, b"")
    assert b"unknown whether the request was carried out" in err
    os.kill(controller.pid, signal.SIGCONT)
    eventually(lambda: jobs(world), "it was carried out")


def _has_sent(pid: int) -> bool:
    """True once the command waits for data."""
    with open(f"/proc/{pid}/wchan", "rb") as wchan, open(f"/proc/{pid}/syscall", "rb") as syscall:
        number = syscall.read().split()[0]
        return b"poll" in wchan.read() or number in {b"7", b"45", b"271", b"73"}  # poll, recvfrom, ppoll


def test_the_python_client_repeats_a_submit(world: World) -> None:
    world.wake(TARMAC_CRASH_AT="controller:after-commit")
    client = Client(world.home.path, start=False)
    os.environ |= {name: value for name, value in world.home.environment.items() if name.startswith("TARMAC_")}
    try:
        client.start = True
        job = client.submit(["true"], gpus=0, entry="held")
    finally:
        for name in [name for name in os.environ if name.startswith("TARMAC_")]:
            del os.environ[name]
    assert jobs(world) == [job.id]


def test_a_controller_that_is_killed_while_it_starts_is_started_again(world: World) -> None:
    """Kill three of them before they can say anything; the command does not mind."""
    command = world.home.start("add", "-g", "0", "--hold", "true")
    for _ in range(4):
        (controller,) = eventually(lambda: world.seen("controller"), "a controller starts")
        world.kill_one(controller)
    out, err = command.communicate(timeout=120)
    assert (command.returncode, err) == (0, b"")
    assert jobs(world) == [int(out)]
