"""GPUs and settings from the command line, against a real controller."""

import json
import os
import signal
import subprocess
import termios
from collections.abc import Iterator

import pytest

from tests.home import Home, until
from tests.terminal import Terminal


def is_running(home: Home, job: int) -> bool:
    return home.client().job(job).state == "running"


def test_small_jobs_share_a_gpu_and_show_it(home: Home) -> None:
    first, second = home.add("--gpu-mem", "8G", "sleep", "600"), home.add("--gpu-share", "50%", "sleep", "600")
    assert until(lambda: is_running(home, first) and is_running(home, second))
    head, *rows = home.tarmac("gpus").stdout.splitlines()
    assert "BOOKED" in head
    assert any(f"{first}-{second}" in row and "20.0G" in row for row in rows)
    assert "8.0G of each GPU reserved" in home.tarmac("show", str(first)).stdout


def test_an_impossible_gpu_request_is_refused_at_once(shared_home: Home) -> None:
    for words in (["--min-gpu-mem", "40G"], ["--gpu-model", "h100"], ["--gpus-on", "7"], ["--gpu-mem", "25G"]):
        done = shared_home.tarmac("add", *words, "true")
        assert (done.returncode, done.stdout) == (2, ""), words


def test_a_drained_gpu_is_not_used_until_it_is_resumed(home: Home) -> None:
    assert home.tarmac("gpu", "drain", "0-1", "--reason", "new fan").returncode == 0
    job = home.add("true")
    assert home.tarmac("gpus").stdout.count("drained: new fan") == 2
    assert "new fan" in home.tarmac("show", str(job)).stdout
    assert home.client().job(job).state == "queued"
    assert home.tarmac("gpu", "resume", "all").returncode == 0
    assert home.tarmac("wait", str(job)).returncode == 0


def test_slots_let_that_many_jobs_share_a_gpu(home: Home) -> None:
    assert home.tarmac("gpu", "slots", "0", "2").returncode == 0
    jobs = [home.add("--gpus-on", "0", "sleep", "600") for _ in range(3)]
    assert until(lambda: all(is_running(home, job) for job in jobs[:2]))
    assert home.client().job(jobs[2]).state == "queued"
    assert "SLOTS" in home.tarmac("gpus").stdout


def test_a_gpu_that_does_not_exist_is_not_found(shared_home: Home) -> None:
    done = shared_home.tarmac("gpu", "drain", "9")
    assert done.returncode == 3
    assert "GPU 9 does not exist" in done.stderr


def test_a_program_is_ignored_until_forgotten(shared_home: Home) -> None:
    added = json.loads(shared_home.tarmac("gpu", "ignore-process", "sunshine", "--json").stdout)
    assert "sunshine" in added["ignored"]
    taken = json.loads(shared_home.tarmac("gpu", "ignore-process", "sunshine", "--forget", "--json").stdout)
    assert "sunshine" not in taken["ignored"]


def test_the_ignored_programs_are_listed_with_their_origin(shared_home: Home) -> None:
    shared_home.tarmac("gpu", "ignore-process", "sunshine")
    assert shared_home.tarmac("gpu", "ignore-process", "--off", "Xorg").returncode == 0
    shown = [line.split(maxsplit=1) for line in shared_home.tarmac("gpu", "ignore-process").stdout.splitlines()]
    assert shown[0] == ["PROCESS", "ORIGIN"]
    assert ["Xorg", "default, off"] in shown
    assert ["Xwayland", "default"] in shown
    assert ["sunshine", "user"] in shown
    listed = json.loads(shared_home.tarmac("gpu", "ignore-process", "--json").stdout)
    assert {"program": "sunshine", "pid": None, "node": None, "origin": "user", "off": False} in listed["ignored"]
    assert shared_home.tarmac("gpu", "ignore-process", "--forget", "Xwayland").returncode == 2
    assert shared_home.tarmac("gpu", "ignore-process", "--forget", "Xorg").returncode == 0
    shown = [line.split() for line in shared_home.tarmac("gpu", "ignore-process").stdout.splitlines()]
    assert ["Xorg", "default"] in shown
    shared_home.tarmac("gpu", "ignore-process", "--forget", "sunshine")


def test_a_setting_is_in_force_at_once_and_survives_a_restart(home: Home) -> None:
    assert home.tarmac("set", "max_load", "30%").returncode == 0
    home.tarmac("stop")
    setting = json.loads(home.tarmac("set", "max_load", "--json").stdout)
    assert (setting["value"], setting["origin"]) == ("0.3", "live")
    assert home.tarmac("set", "max_load", "--reset").returncode == 0
    assert json.loads(home.tarmac("set", "max_load", "--json").stdout)["origin"] == "default"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["max_laod", "0.2"], 3, "did you mean max_load?"),
        (["MAX_ERR_TIMES"], 3, "another tool"),
        (["max_load", "lots"], 2, "20%"),
        (["idle_action", "explode"], 2, "none"),
    ],
)
def test_a_wrong_setting_suggests_the_right_one(shared_home: Home, words: list[str], code: int, said: str) -> None:
    done = shared_home.tarmac("set", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.parametrize("columns", [80, 200])
def test_the_settings_fit_the_terminal(shared_home: Home, columns: int) -> None:
    with Terminal(shared_home, "set", columns=columns, NO_COLOR="1") as terminal:
        terminal.ends()
        assert all(len(line) <= columns for line in terminal.text.splitlines())
        assert "keep_host_memory" in terminal.text


def test_watching_the_gpus_shows_changes_and_restores_the_cursor(home: Home) -> None:
    with Terminal(home, "gpus", "-w") as terminal:
        assert terminal.sees("2 GPUs, 0 with jobs")
        home.tarmac("gpu", "drain", "1", "-r", "fan")
        assert terminal.sees("drained: fan")
        terminal.type(b"\x03")
        assert terminal.ends() == 130
        assert terminal.text.count("\x1b[?25l") == terminal.text.count("\x1b[?25h") == 1
    assert home.tarmac("gpus", "-w").returncode == 2


@pytest.mark.parametrize("verb", ["gpus", "ls"])
def test_q_ends_watching_and_restores_the_terminal(home: Home, verb: str) -> None:
    home.tarmac("status")
    ways = termios.ECHO | termios.ICANON
    with Terminal(home, verb, "-w") as terminal:
        assert terminal.sees("q ends")
        assert termios.tcgetattr(terminal.master)[3] & ways == 0
        terminal.type(b"xq")
        assert terminal.process.wait(60) == 0
        assert termios.tcgetattr(terminal.master)[3] & ways == ways
        assert terminal.ends() == 0
        assert terminal.text.count("\x1b[?25l") == terminal.text.count("\x1b[?25h") == 1


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_a_process_is_adopted_watched_and_stopped(home: Home, sleeper: subprocess.Popen[bytes]) -> None:
    done = home.tarmac("adopt", str(sleeper.pid), "--gpus", "0", "-n", "mine")
    job = int(done.stdout)
    assert until(lambda: is_running(home, job))
    assert "mine" in home.tarmac("ls").stdout
    home.tarmac("kill", str(job))
    assert sleeper.wait(20) == -signal.SIGTERM
    assert until(lambda: home.client().job(job).is_ended)


def test_the_output_of_an_adopted_process_is_not_redirected(home: Home, sleeper: subprocess.Popen[bytes]) -> None:
    job = home.tarmac("adopt", str(sleeper.pid), "--gpus", "none").stdout.strip()
    shown = home.tarmac("show", job).stdout
    assert "its output is not redirected" in shown
    assert "/dev/null" not in shown
    for words in (("log", job), ("log", "-f", job)):
        done = home.tarmac(*words)
        assert (done.returncode, done.stdout) == (3, "")
        assert "does not capture its output" in done.stderr
    assert home.client().job(int(job)).gpus_asked == 0


def test_the_callers_shell_is_adopted_only_with_yes(shared_home: Home) -> None:
    refused = shared_home.tarmac("adopt", str(os.getpid()), "-g", "")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr


def test_a_missing_process_cannot_be_adopted(shared_home: Home) -> None:
    done = shared_home.tarmac("adopt", "4194304")
    assert (done.returncode, done.stdout) == (3, "")
