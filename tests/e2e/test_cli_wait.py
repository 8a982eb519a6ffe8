import json
import os
import signal

import pytest

from tests.home import Home, is_connected, until
from tests.terminal import Terminal


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143)])
def test_wait_exits_with_the_code_of_the_job_silently(shared_home: Home, script: str, code: int) -> None:
    number = shared_home.add("-c", script)
    done = shared_home.tarmac("wait", str(number))
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_wait_exits_with_the_highest_code(shared_home: Home) -> None:
    numbers = [str(shared_home.add("-c", f"exit {code}")) for code in (0, 5, 3)]
    assert shared_home.tarmac("wait", *numbers).returncode == 5
    assert shared_home.tarmac("wait", f"{numbers[0]}-{numbers[2]}").returncode == 5
    assert shared_home.tarmac("wait", numbers[0], numbers[2]).returncode == 3


def test_wait_without_ids_waits_for_the_newest_job(shared_home: Home) -> None:
    shared_home.add("-c", "exit 9")
    assert shared_home.tarmac("wait").returncode == 9


def test_wait_all_means_all_active_jobs(home: Home) -> None:
    home.add("false")
    home.tarmac("wait")
    for _ in range(4):
        home.add("sleep", "0.2")
    done = home.tarmac("wait", "all", "--json")
    assert done.returncode == 0
    assert {job["id"] for job in json.loads(done.stdout)} <= {2, 3, 4, 5}
    assert home.tarmac("wait", "all").returncode == 0


def test_a_timeout_exits_with_124(home: Home) -> None:
    number = home.add("sleep", "600")
    done = home.tarmac("wait", str(number), "--timeout", "0.2")
    assert done.returncode == 124
    assert f"job {number} has not ended" in done.stderr


def test_a_cancelled_job_does_not_count_as_success(home: Home) -> None:
    home.add("-g", "2", "sleep", "600")
    waiting = home.add("true")
    home.tarmac("kill", str(waiting))
    assert home.tarmac("wait", str(waiting)).returncode == 1


def test_wait_continues_when_the_controller_is_killed(home: Home) -> None:
    number = home.add("-c", "sleep 1; exit 7")
    waiting = home.start("wait", str(number))
    assert until(lambda: is_connected(waiting.pid))
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    assert waiting.communicate(timeout=60) == (b"", b"")
    assert waiting.returncode == 7


def test_on_a_terminal_wait_prints_a_summary(shared_home: Home) -> None:
    number = shared_home.add("-c", "exit 3")
    with Terminal(shared_home, "wait", str(number)) as terminal:
        assert terminal.ends() == 3
        assert f"job {number} failed, exit 3" in terminal.text


def test_a_missing_job_is_not_found(shared_home: Home) -> None:
    done = shared_home.tarmac("wait", "99999")
    assert done.returncode == 3
    assert "99999" in done.stderr


def test_ctrl_c_ends_only_the_wait(home: Home) -> None:
    number = home.add("sleep", "600")
    with Terminal(home, "wait", str(number)) as terminal:
        assert until(lambda: is_connected(terminal.process.pid))
        terminal.type(b"\x03")
        assert terminal.ends() == 130
        assert "Traceback" not in terminal.text
    assert until(lambda: home.client().job(number).state == "running")
