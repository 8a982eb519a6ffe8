"""`tarmac stop` while jobs are being stopped: it returns, and the jobs are still killed."""

from pathlib import Path

from tests.agent_peer import is_alive
from tests.faults.test_restarts import start_old_agent
from tests.faults.world import World, eventually
from tests.home import Home
from tests.terminal import Terminal

STUBBORN = "trap '' TERM; echo $$ > {told}; while :; do sleep 0.05; done"


def add_stubborn(home: Home, told: Path) -> tuple[int, int]:
    """A job that ignores TERM, and its process."""
    job = home.add("--", "sh", "-c", STUBBORN.format(told=told))
    eventually(lambda: told.exists() and told.read_text().endswith("\n"), "the job ignores TERM")
    return job, int(told.read_text())


def test_a_job_that_ignores_its_signal_is_killed_after_tarmac_was_stopped(world: World, tmp_path: Path) -> None:
    job, pid = add_stubborn(world.home, tmp_path / "told")
    assert world.home.tarmac("kill", str(job), "--grace", "3").returncode == 0
    assert world.home.tarmac("stop").returncode == 0
    assert not world.seen("controller")
    eventually(lambda: not is_alive(pid), "it is killed although nobody started Tarmac again")
    eventually(lambda: not world.seen("agent"), "the agent has nothing left to wait for")
    assert world.state(job) == "cancelled"


def test_stop_reports_the_jobs_being_stopped_and_leaves_them_to_the_agent(world: World, tmp_path: Path) -> None:
    home = world.home
    (job, pid), (other, _) = (add_stubborn(home, tmp_path / name) for name in ("first", "second"))
    home.tarmac("kill", str(job), "--grace", "600")
    agent = home.pid_of("agent")
    with Terminal(home, "stop") as terminal:
        assert terminal.ends() == 0
        assert "1 job continues; 1 job is still being stopped" in terminal.text
    assert not world.seen("controller")
    assert is_alive(pid)
    world.wake()
    assert home.pid_of("agent") == agent, "the one that was left is found again"
    assert world.state(other) == "running"
    assert home.tarmac("kill", str(job), str(other), "--grace", "0").returncode == 0
    eventually(lambda: not is_alive(pid), "it is killed")


def test_an_agent_of_another_version_is_replaced_before_it_has_stopped_its_jobs(world: World, tmp_path: Path) -> None:
    job, pid = add_stubborn(world.home, tmp_path / "told")
    world.home.tarmac("kill", str(job), "--grace", "600")
    world.kill_all("controller", "agent")
    old = start_old_agent(world)
    world.wake()
    assert old.wait(20) == 0
    assert is_alive(pid)
    world.home.tarmac("kill", str(job), "--grace", "0")
    eventually(lambda: not is_alive(pid), "the new one has taken it over")
