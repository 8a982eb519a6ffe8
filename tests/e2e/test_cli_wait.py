import json
import os
import signal

import pytest

from tests.home import Home, is_connected, until
from tests.terminal import Terminal


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


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
    jobs = {home.add("sleep", "0.2") for _ in range(4)}
    done = home.tarmac("wait", "all", "--json")
    assert done.returncode == 0
    assert {job["id"] for job in json.loads(done.stdout)} <= jobs
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
        assert f"job {number} failed (exit 3)" in terminal.text


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


@pytest.mark.parametrize("words", [["wait"], ["log", "-f"]])
def test_who_waits_on_a_paused_queue_says_so_at_once(home: Home, words: list[str]) -> None:
    home.tarmac("queue", "pause", "--reason", "new driver")
    job = home.add("true")
    waiting = home.start(*words, str(job))
    assert waiting.stderr is not None
    said = waiting.stderr.readline().decode()
    assert "waiting:" in said
    assert "paused the queue" in said
    assert "new driver" in said
    home.tarmac("queue", "resume")
    assert waiting.wait(30) == 0
    assert waiting.communicate()[1] == b""


def test_wait_says_when_the_queue_is_paused_meanwhile(home: Home) -> None:
    running = home.add("-g", "2", "sleep", "600")
    job = home.add("-g", "2", "true")
    waiting = home.start("wait", str(job))
    assert until(lambda: is_connected(waiting.pid))
    home.tarmac("queue", "pause")
    assert waiting.stderr is not None
    assert "paused the queue" in waiting.stderr.readline().decode()
    home.tarmac("queue", "resume")
    home.tarmac("kill", str(running))
    assert waiting.wait(30) == 0
    waiting.communicate()


def test_wait_for_a_held_job_says_how_to_release_it(home: Home) -> None:
    job = home.add("--hold", "true")
    waiting = home.start("wait", str(job))
    assert waiting.stderr is not None
    assert f"tarmac release {job}" in waiting.stderr.readline().decode()
    home.tarmac("release", str(job))
    assert waiting.wait(30) == 0
    waiting.communicate()


def test_the_api_answers_a_wait_only_for_the_end_unless_it_is_asked_for_notices(home: Home) -> None:
    home.tarmac("queue", "pause")
    job = home.add("true")
    with home.client() as client:
        answer = client.call("GET", "/jobs/wait", query={"ids": job, "timeout_s": 0})
        assert answer["pending"] == [job]
        assert "paused the queue" in answer["notice"]
        told = client.call("GET", "/jobs/wait", query={"ids": job, "timeout_s": 30, "known": ""})
        assert told["notice"] == answer["notice"]
        again = client.call("GET", "/jobs/wait", query={"ids": job, "timeout_s": 0.1, "known": told["notice"]})
        assert again["notice"] == answer["notice"]
