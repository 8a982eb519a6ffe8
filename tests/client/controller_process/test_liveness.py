import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tarmac.client.controller_process.liveness import diagnose_silence
from tarmac.client.transport import NoAnswer
from tests.home import until


@contextmanager
def another_process(code: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{code}"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # Python itself has started
        try:
            yield process
        finally:
            process.kill()


def test_a_busy_controller_is_not_to_be_killed() -> None:
    with another_process("while True: pass") as process:
        assert until(lambda: diagnose_silence(process.pid) == "busy")
        error = NoAnswer(process.pid)
    assert error.message == f"the controller (pid {process.pid}) is busy; the request may still be carried out"
    assert "kill" not in str(error.hint)


def test_a_stopped_controller_is_to_be_continued_not_killed() -> None:
    with another_process("while True: pass") as process:
        os.kill(process.pid, signal.SIGSTOP)
        assert until(lambda: diagnose_silence(process.pid) == "stopped")
        error = NoAnswer(process.pid)
    assert "it is stopped" in error.message
    assert f"kill -CONT {process.pid}" in str(error.hint)
    assert "kill -9" not in str(error.hint)


def test_a_stuck_controller_may_be_killed() -> None:
    with another_process("import time; time.sleep(600)") as process:
        assert until(lambda: diagnose_silence(process.pid) == "stuck")
        assert f"kill -9 {process.pid}" in str(NoAnswer(process.pid).hint)
    assert diagnose_silence(process.pid, look_s=0) == "stuck", "nothing is to be seen of it"


def test_an_unknown_controller_has_no_pid_in_the_message() -> None:
    error = NoAnswer(0)
    assert "too many are waiting" in error.message
    assert "kill" not in str(error.hint)
