import os
import signal
from pathlib import Path

import pytest

from tests.home import Home, until
from tests.terminal import Terminal

# A job that prints when it has started, and runs until it is stopped.
ENDLESS = "echo begun; while :; do sleep 0.1; done"


def state_of(home: Home, number: int) -> str:
    return home.client().job(number).state


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 1", 1), ("exit 42", 42), ("kill -SEGV $$", 139), ("kill -KILL $$", 137)]
)
def test_run_exits_with_the_code_of_the_job(shared_home: Home, script: str, code: int) -> None:
    assert shared_home.tarmac("run", "-c", script).returncode == code


def test_the_output_is_printed_byte_for_byte(shared_home: Home) -> None:
    done = shared_home.tarmac("run", "printf", "\\377\\000\\r\\033[31m", text=False, encoding=None)
    assert (done.stdout, done.stderr) == (b"\xff\x00\r\x1b[31m", b"")


def test_output_is_printed_while_the_job_runs(shared_home: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    running = shared_home.start("run", "-c", f"echo first; while [ ! -e {gate} ]; do sleep 0.02; done; echo second")
    assert running.stdout is not None
    assert running.stdout.readline() == b"first\n"
    gate.touch()
    assert running.communicate(timeout=60)[0] == b"second\n"
    assert running.returncode == 0


def test_a_job_that_could_not_be_started_says_why_and_exits_1(shared_home: Home) -> None:
    done = shared_home.tarmac("run", "/no/such/program")
    assert (done.returncode, done.stdout) == (1, "")
    assert "could not be started" in done.stderr
    assert "/no/such/program" in done.stderr


def test_on_a_terminal_run_says_why_the_job_waits(home: Home) -> None:
    blocker = home.add("-g", "2", "-c", ENDLESS)
    with Terminal(home, "run", "echo", "my turn") as terminal:
        assert terminal.sees("waits: requested 1 GPU; 0 of 2 are free")
        home.tarmac("kill", str(blocker))
        assert terminal.ends() == 0
        assert "my turn" in terminal.text


def test_ctrl_c_asks_the_job_to_stop(home: Home) -> None:
    with Terminal(home, "run", "-c", ENDLESS) as terminal:
        assert terminal.sees("begun")
        terminal.type(b"\x03")
        assert terminal.ends() == 143
        assert "asking job 1 to stop" in terminal.text
        assert "Traceback" not in terminal.text
    assert state_of(home, 1) == "cancelled"


def test_a_second_ctrl_c_detaches_from_the_job(home: Home) -> None:
    with Terminal(home, "run", "--grace", "600", "-c", f"trap '' TERM; {ENDLESS}") as terminal:
        assert terminal.sees("begun")
        terminal.type(b"\x03")
        assert terminal.sees("asking job 1 to stop")
        assert until(lambda: state_of(home, 1) == "stopping")
        terminal.type(b"\x03")
        assert terminal.ends() == 130
        assert "detached from job 1" in terminal.text
    assert state_of(home, 1) == "stopping"


def test_ctrl_c_cancels_a_waiting_job(home: Home) -> None:
    home.add("-g", "2", "-c", ENDLESS)
    with Terminal(home, "run", "true") as terminal:
        assert terminal.sees("waits")
        terminal.type(b"\x03")
        assert terminal.ends() == 130
    assert state_of(home, 2) == "cancelled"


def test_a_closed_terminal_leaves_the_job_running(home: Home) -> None:
    running = home.start("run", "-c", ENDLESS)
    assert running.stdout is not None
    assert running.stdout.readline() == b"begun\n"
    running.send_signal(signal.SIGHUP)
    running.communicate(timeout=60)
    assert state_of(home, 1) == "running"


def test_run_continues_when_the_controller_is_killed(home: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = f"echo begun; while [ ! -e {gate} ]; do sleep 0.02; done; echo ended; exit 7"
    running = home.start("run", "-c", script)
    assert running.stdout is not None
    assert running.stdout.readline() == b"begun\n"
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    gate.touch()
    out, err = running.communicate(timeout=60)
    assert (out, err, running.returncode) == (b"ended\n", b"", 7)


def test_a_closed_pipe_ends_it_quietly(home: Home) -> None:
    done = home.tarmac("status")
    assert done.returncode == 0
    running = home.start("run", "-c", "while :; do echo y; done")
    assert running.stdout is not None
    assert running.stdout.readline() == b"y\n"
    running.stdout.close()
    assert running.wait(20) == -signal.SIGPIPE
    assert running.stderr is not None
    assert running.stderr.read() == b""
    running.stderr.close()


def test_run_on_a_paused_queue_says_so_at_once(home: Home) -> None:
    """Also in a script, where nobody looks at a terminal."""
    home.tarmac("queue", "pause", "--reason", "Wartung läuft")
    running = home.start("run", "echo", "done")
    assert running.stderr is not None
    said = running.stderr.readline().decode()
    assert "waiting:" in said
    assert "Wartung läuft" in said
    home.tarmac("queue", "resume")
    assert running.wait(30) == 0
    assert running.communicate() == (b"done\n", b"")
