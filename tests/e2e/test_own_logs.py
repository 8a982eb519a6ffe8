"""Tarmac's own logs: nothing alarming in a normal life, and files that do not grow without bound."""

import re

import pytest

from tarmac.shared.own.log import MOST_BYTES
from tests.home import Home, until

LARGE = MOST_BYTES + 1
OWN = ("controller.log", "agent/agent.log")
ALARM = re.compile(r"WARN|ERROR|CRITICAL|Traceback|unexpected error|Exception", re.IGNORECASE)


def alarms(home: Home) -> list[str]:
    return [line for name in OWN for line in (home.path / name).read_text().splitlines() if ALARM.search(line)]


def test_a_normal_life_writes_no_warning(home: Home) -> None:
    job = home.add("--", "echo", "hello")
    home.add("--hold", "--tag", "t", "--", "true")
    assert home.tarmac("wait", str(job)).returncode == 0
    long = home.add("-g", "0", "--", "sleep", "600")
    for line in ("ls", "gpus", "status", f"show {job}", f"why {long}", f"log {job}", "set", "reserve", "release all",
                 f"kill {long}", "wait all", "rm all", "stop", "status", "stop --keep-agent", "status", "stop",
                 "status"):  # fmt: skip
        assert home.tarmac(*line.split()).returncode in (0, 1, 143), line
    job = home.add("-g", "0", "--", "sleep", "600")
    watching = [home.start("log", "-f", str(job)), home.start("wait", str(job))]
    assert home.tarmac("kill", str(job)).returncode == 0
    for one in watching:
        one.communicate(timeout=60)
    assert home.tarmac("stop").returncode == 0
    assert until(lambda: not home.processes())
    assert not alarms(home)


def test_a_stop_while_others_wait_writes_no_warning(home: Home) -> None:
    job = home.add("-g", "0", "--", "sleep", "600")
    watching = [home.start("log", "-f", str(job)), home.start("wait", str(job))]
    listening = home.client().stream("/events", {})
    next(iter(listening.chunks()))  # hello
    assert until(lambda: len(home.processes()) >= 2 + len(watching))
    assert home.tarmac("stop").returncode == 0
    listening.close()
    assert home.tarmac("kill", str(job)).returncode == 0
    for one in watching:
        one.communicate(timeout=60)
    assert not alarms(home)


@pytest.mark.parametrize("name", OWN)
def test_a_large_log_is_rotated_at_the_start_and_later(home: Home, name: str) -> None:
    path = home.path / name
    path.parent.mkdir(parents=True, mode=0o700)
    path.parent.parent.chmod(0o700)
    home.path.chmod(0o700)
    path.write_text("a" * LARGE)
    assert home.tarmac("status").returncode == 0
    assert path.with_name(path.name + ".1").read_text() == "a" * LARGE
    with path.open("a") as log:
        log.write("b" * LARGE)
    log_of_job = home.path / "logs" / "1.1.log"
    assert home.add("-g", "0", "-c", f"head -c {LARGE} /dev/zero") == 1
    assert home.tarmac("wait", "1").returncode == 0
    for _ in range(2):
        assert home.tarmac("stop").returncode == 0
        assert until(lambda: not home.processes())
        assert home.tarmac("status").returncode == 0
    assert "b" in path.with_name(path.name + ".1").read_text()
    assert path.with_name(path.name + ".2").read_text() == "a" * LARGE
    assert [one.name for one in log_of_job.parent.iterdir()] == ["1.1.log"]
    assert log_of_job.stat().st_size == LARGE
    assert home.tarmac("log", "controller").returncode == 0
