"""Files of the state directory are removed or replaced under a running controller. No acknowledged job is lost."""

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.home import Home, until

DATABASE = ("tarmac.db", "tarmac.db-wal", "tarmac.db-shm")


def take_away(home: Home, names: tuple[str, ...]) -> None:
    for name in names:
        (home.path / name).unlink()


def crash(home: Home) -> None:
    """Kill the controller and wait for its end."""
    pid = int((home.path / "controller.lock").read_text())
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: pid not in home.processes())


def states(home: Home) -> dict[int, str]:
    return {job["id"]: job["state"] for job in json.loads(home.tarmac("ls", "--json").stdout)}


@pytest.mark.parametrize("names", [("tarmac.db",), ("tarmac.db-wal",), DATABASE], ids=["db", "wal", "all"])
def test_a_submit_after_the_database_was_removed_is_not_lost(home: Home, names: tuple[str, ...]) -> None:
    running = home.add("sleep", "1000")
    take_away(home, names)
    added = [home.add("--gpus", "2", "true") for _ in range(3)]
    crash(home)
    assert "it was restored, and nothing is lost" in (home.path / "controller.log").read_text()
    assert sorted(states(home)) == [running, *added]
    assert states(home)[running] == "running"


def test_the_database_comes_back_even_if_nobody_submits(home: Home) -> None:
    added = home.add("true")
    assert home.tarmac("wait", str(added)).returncode == 0
    take_away(home, DATABASE)
    assert until((home.path / "tarmac.db").exists)
    crash(home)
    assert home.tarmac("show", str(added)).returncode == 0


def test_a_replaced_database_is_not_written_to_and_nothing_is_acknowledged(home: Home, tmp_path: Path) -> None:
    home.add("true")
    other = Home(tmp_path / "other")
    other.add("--hold", "sleep", "1")
    other.tarmac("stop")
    shutil.copy(other.path / "tarmac.db", tmp_path / "copy.db")
    os.rename(tmp_path / "copy.db", home.path / "tarmac.db")
    done = home.tarmac("add", "true")
    assert done.returncode == 5
    assert "was replaced by another file while it was in use" in done.stderr
    (saved,) = home.path.glob("tarmac.db.saved-*")
    reader = sqlite3.connect(saved)
    assert reader.execute("SELECT count(*) FROM jobs").fetchone()[0] >= 1
    reader.close()
    # The file that was put there is used after a restart.
    home.tarmac("stop")
    assert "sleep 1" in home.tarmac("ls").stdout
    other.clean()


def test_a_running_job_can_be_killed_although_the_database_was_replaced(home: Home, tmp_path: Path) -> None:
    running = home.add("sleep", "1000")
    client = home.client()
    assert until(lambda: client.job(running).state == "running")
    pid = client.job(running).pid
    (tmp_path / "other.db").write_bytes(b"something else")
    os.rename(tmp_path / "other.db", home.path / "tarmac.db")
    killed = client.kill(running, grace_s=0)
    assert killed["asked"] == [running]
    assert until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_submit_into_an_overwritten_database_is_not_acknowledged(home: Home) -> None:
    home.add("true")
    home.tarmac("wait", "1")
    (home.path / "tarmac.db").write_bytes(b"overwritten" * 1000)
    done = home.tarmac("add", "true")
    assert done.returncode == 5, done
    crash(home)
    take_away(home, DATABASE)
    assert home.tarmac("ls").returncode == 0


def remove(folder: Path) -> None:
    """Again if an agent has just created a file in it."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def move(folder: Path) -> None:
    folder.rename(folder.with_name("away"))


@pytest.mark.parametrize("how", [remove, move])
def test_without_its_directory_the_controller_ends_and_acknowledges_nothing(
    home: Home, how: Callable[[Path], object]
) -> None:
    home.add("true")
    home.tarmac("wait", "1")
    how(home.path)
    assert until(lambda: not home.processes())
    assert home.add("true") >= 1, "the next command starts anew"


def test_a_second_controller_does_not_start_while_the_first_has_the_directory(home: Home) -> None:
    home.add("true")
    pid = home.pid_of("controller")
    os.kill(pid, signal.SIGSTOP)
    try:
        for name in ("controller.lock", "tarmac.sock"):
            (home.path / name).unlink()
        second = home.start("ls")
        assert until(lambda: any("--ready-fd" in line and number != pid for number, line in home.processes().items()))
        assert not (home.path / "tarmac.sock").exists()
    finally:
        os.kill(pid, signal.SIGCONT)
    second.communicate(timeout=60)
    assert second.returncode == 0
    assert home.pid_of("controller") != pid
