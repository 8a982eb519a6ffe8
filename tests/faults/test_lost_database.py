"""The database or run directories are lost while jobs run: the jobs are found again and keep their GPUs."""

import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from tarmac.agent.records.run_folder import START, RunFolder
from tests.agent_peer import is_alive
from tests.faults.world import World, eventually

KILLED = [("controller",), ("controller", "agent")]


def hold_jobs(world: World, *gpus: int) -> list[int]:
    """Running jobs that end when `let_go` is called."""
    world.hold()
    jobs = [job for count in gpus for job in world.run(1, gpus=count)]
    eventually(lambda: all(world.state(job) == "running" for job in jobs), "the jobs run")
    for job in jobs:
        world.pid_of(job)
    return jobs


def databases(world: World) -> list[Path]:
    return sorted(world.home.path.glob("tarmac.db*"))


def move_away(world: World) -> None:
    away = world.home.path.parent / "away"
    away.mkdir(exist_ok=True)
    for path in databases(world):
        shutil.move(path, away / path.name)


def copy_of(world: World) -> Path:
    """A backup of the database as it is now."""
    backup = world.home.path.parent / "backup.db"
    with sqlite3.connect(world.home.path / "tarmac.db") as source, sqlite3.connect(backup) as target:
        source.backup(target)
    return backup


def restore(world: World, backup: Path) -> None:
    for path in databases(world):
        path.unlink()
    shutil.copy(backup, world.home.path / "tarmac.db")


def gpus_of(world: World, job: int) -> list[int]:
    return [gpu["index"] for gpu in world.job(job)["gpus"]]


@pytest.mark.parametrize("killed", KILLED, ids=" and ".join)
def test_jobs_that_the_database_does_not_know_keep_their_gpus(world: World, killed: tuple[str, ...]) -> None:
    world.wake()
    one, two = hold_jobs(world, 1, 2)
    before = {job: world.job(job) for job in (one, two)}
    world.kill_all(*killed)
    move_away(world)
    world.wake()
    for job in (one, two):
        found = world.job(job)
        assert (found["state"], "taken in from node" in found["message"]) == ("unknown", True)
        same = ("gpus", "name", "owner", "command", "cwd", "submitted_at", "pid", "log_path")
        assert {name: found[name] for name in same} == {name: before[job][name] for name in same}
    listed = world.home.tarmac("ls").stdout
    assert listed.count("unknown") == 2, listed
    (small,) = world.run(1, gpus=1)
    (large,) = world.run(1, gpus=2)
    assert small not in (one, two), "ids are not given again"
    eventually(lambda: world.state(small) == "running", "it gets the free GPU")
    assert not set(gpus_of(world, small)) & {*gpus_of(world, one), *gpus_of(world, two)}
    assert world.state(large) == "queued"
    why = world.home.tarmac("why", str(large)).stdout
    assert f"job {one}" in why, why
    world.let_go()
    world.wait_for_all()
    assert [world.job(job)["exit_code"] for job in (one, two, small, large)] == [0, 0, 4, 0], "as the witness exits"
    assert sorted(world.started()) == [one, two, small, large]


@pytest.mark.parametrize("killed", KILLED, ids=" and ".join)
def test_an_unknown_run_can_be_killed(world: World, killed: tuple[str, ...]) -> None:
    world.wake()
    (job,) = hold_jobs(world, 4)
    pid = world.pid_of(job)
    world.kill_all(*killed)
    move_away(world)
    (after,) = world.run(1)
    assert world.state(after) == "queued"
    world.stop(job)
    eventually(lambda: world.state(job) == "cancelled", "it has ended")
    assert not is_alive(pid)
    world.let_go()
    world.wait_for_all()
    assert world.state(after) == "succeeded"


def test_an_exit_that_nobody_saw_is_found_without_the_database(world: World) -> None:
    world.wake()
    (job,) = hold_jobs(world, 1)
    world.kill_all("controller", "agent")
    move_away(world)
    world.let_go()
    eventually(lambda: not world.seen("shim"), "it has ended")
    world.wake()
    eventually(lambda: world.state(job) == "succeeded", "its end is known")
    story = world.home.tarmac("show", str(job)).stdout
    assert "the database did not know it" in story, story
    assert list((world.home.path / "agent/runs").iterdir()) == [], "the run directory is no longer needed"
    world.kill_all("controller", "agent")
    world.wake()
    assert world.started() == [job]


def test_a_job_that_an_old_database_has_as_queued_does_not_start_a_second_time(world: World) -> None:
    world.wake()
    world.hold()
    world.home.tarmac("queue", "pause")
    (job,) = world.run(1, gpus=2)
    backup = copy_of(world)
    world.home.tarmac("queue", "resume")
    world.pid_of(job)
    world.kill_all("controller", "agent")
    restore(world, backup)
    world.wake()
    world.home.tarmac("queue", "resume")
    assert world.state(job) == "unknown"
    assert len(gpus_of(world, job)) == 2
    world.let_go()
    world.wait_for_all()
    assert world.state(job) == "succeeded"
    assert world.started() == [job]


@pytest.mark.parametrize("killed", KILLED, ids=" and ".join)
def test_a_job_that_already_ran_does_not_run_again_from_an_old_database(world: World, killed: tuple[str, ...]) -> None:
    world.wake()
    world.home.tarmac("queue", "pause")
    job, other = world.run(2, gpus=1)
    backup = copy_of(world)
    world.home.tarmac("queue", "resume")
    world.wait_for_all()
    eventually(lambda: not os.listdir(world.home.path / "agent" / "runs"), "the node has forgotten both")
    world.kill_all(*killed)
    restore(world, backup)
    world.wake()
    world.home.tarmac("queue", "resume")
    world.wait_for_all()
    assert [world.state(number) for number in (job, other)] == ["unknown", "unknown"]
    assert "already ran" in world.home.tarmac("show", str(job)).stdout
    assert sorted(world.started()) == [job, other], "each started once"


def test_a_job_that_ended_in_an_old_database_and_still_runs_holds_its_gpus(world: World) -> None:
    """It is cancelled and removed there before the node says that it runs."""
    world.wake()
    world.hold()
    world.home.tarmac("queue", "pause")
    (job,) = world.run(1, gpus=4)
    backup = copy_of(world)
    world.home.tarmac("queue", "resume")
    pid = world.pid_of(job)
    world.kill_all("controller", "agent")
    restore(world, backup)
    with sqlite3.connect(world.home.path / "tarmac.db") as database:
        database.execute("DELETE FROM jobs WHERE id = ?", (job,))
    world.wake()
    (found,) = world.client.jobs(state="active")
    assert (found.state, len(found.gpus)) == ("unknown", 4)
    assert found.id != job, "an id is never given twice"
    (after,) = world.run(1)
    assert world.state(after) == "queued"
    world.stop(found.id)
    world.let_go()
    world.home.tarmac("queue", "resume")
    world.wait_for_all()
    assert (world.state(found.id), is_alive(pid)) == ("cancelled", False)


def test_the_first_job_of_a_new_database_is_not_mistaken_for_an_old_run(world: World) -> None:
    """Only a node that is out of reach at first knows of the old run."""
    second = world.home.path.parent / "second"
    world.home.path.chmod(0o700)
    (world.home.path / "config.toml").write_text(
        f'[[nodes]]\nname = "second"\nkind = "local"\nstate = "{second}"\nenvironment = {{ TARMAC_FAKE_GPUS = "4" }}\n'
    )
    world.home.environment["TARMAC_FAKE_GPUS"] = "0"
    world.wake()
    eventually(lambda: len(world.client.gpus()) == 4, "the second node is there")
    (job,) = hold_jobs(world, 4)
    agent = int((second / "agent/agent.lock").read_text())
    os.kill(agent, signal.SIGSTOP)
    world.kill_all("controller")
    move_away(world)
    shutil.rmtree(world.home.path / "logs")
    (first,) = world.run(1, gpus=1)
    assert first == job == 1
    os.kill(agent, signal.SIGCONT)
    found = eventually(lambda: list(world.client.jobs(state="unknown")), "the old run is taken in")[0]
    assert found.id != first
    assert world.state(first) == "queued"
    world.stop(found.id)
    eventually(lambda: world.state(found.id) == "cancelled", "it has ended")
    assert not is_alive(world.pid_of(job))
    world.let_go()
    eventually(lambda: world.state(first) == "succeeded", "the new one gets the GPUs")
    assert world.started() == [1, 1]
    os.kill(agent, signal.SIGTERM)
    eventually(lambda: not is_alive(agent), "the second agent has ended")


@pytest.mark.parametrize("removed", ["one", "all"])
@pytest.mark.parametrize("killed", [("agent",), ("agent", "controller"), ("shim", "agent")], ids=" and ".join)
def test_a_job_without_its_run_directory_keeps_its_gpus(world: World, killed: tuple[str, ...], removed: str) -> None:
    world.wake()
    (job,) = hold_jobs(world, 4)
    runs = world.home.path / "agent/runs"
    shutil.rmtree(runs / f"{job}.1" if removed == "one" else runs)
    world.kill_all(*killed)
    (after,) = world.run(1)
    eventually(lambda: world.seen("agent"), "there is a new agent")
    world.wake()
    assert (world.state(after), is_alive(world.pid_of(job))) == ("queued", True)
    assert len(gpus_of(world, job)) == 4
    world.stop(job)
    eventually(lambda: not is_alive(world.pid_of(job)), "it can be killed")
    world.let_go()
    world.wait_for_all()
    assert world.started() == [job, after]


def test_jobs_keep_their_gpus_although_the_database_and_all_run_directories_are_gone(world: World) -> None:
    world.wake()
    (job,) = hold_jobs(world, 3)
    world.kill_all("controller", "agent")
    move_away(world)
    shutil.rmtree(world.home.path / "agent/runs")
    world.wake()
    found = world.job(job)
    assert (found["state"], len(found["gpus"])) == ("unknown", 3)
    (small, large) = (*world.run(1, gpus=1), *world.run(1, gpus=2))
    eventually(lambda: world.state(small) == "running", "it gets the free GPU")
    assert world.state(large) == "queued"
    assert not set(gpus_of(world, small)) & set(gpus_of(world, job))
    world.stop(job)
    eventually(lambda: not is_alive(world.pid_of(job)), "it can be killed")
    world.let_go()
    world.wait_for_all()


def test_jobs_of_another_version_keep_their_gpus_without_the_database(world: World) -> None:
    """It wrote their origins in a form that this version does not understand."""
    world.wake()
    (job,) = hold_jobs(world, 3)
    world.kill_all("controller", "agent")
    move_away(world)
    runs = os.open(world.home.path / "agent/runs", os.O_RDONLY)
    folder = RunFolder(runs, f"{job}.1")
    record = folder.read(START)
    assert record is not None
    body = json.loads(record["origin"]["body"])
    record["origin"]["body"] = json.dumps({**body, "spec": {"program": body["spec"]["command"]}})
    folder.write_durably(START, record)
    folder.close()
    os.close(runs)
    world.wake()
    found = world.job(job)
    assert (found["state"], len(found["gpus"])) == ("unknown", 3)
    (small, large) = (*world.run(1, gpus=1), *world.run(1, gpus=2))
    eventually(lambda: world.state(small) == "running", "it gets the free GPU")
    assert world.state(large) == "queued"
    world.stop(job)
    eventually(lambda: not is_alive(world.pid_of(job)), "it can be killed")
    world.let_go()
    world.wait_for_all()
