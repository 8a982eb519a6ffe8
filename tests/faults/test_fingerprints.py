"""The controller dies before it stored with which Python a job was started: the next one takes it up again."""

import os
import signal
import sys

from tests.agent_peer import eventually
from tests.home import Home


def test_the_python_of_a_running_job_is_known_after_the_controller_was_killed(home: Home) -> None:
    client = home.client()
    home.tarmac("add", "-g", "0", "--array", "2", sys.executable, "-c", "import time; time.sleep(600)")
    eventually(lambda: all(client.job(job).state == "running" for job in (1, 2)), "the jobs run")
    # It is stored a second after it is reported. On a slow machine that is over by now, and the test shows less.
    os.kill(client.status()["controller_pid"], signal.SIGKILL)
    assert home.tarmac("status").returncode == 0
    eventually(lambda: all(client.job(job).python for job in (1, 2)), "their Python is known")
    python = client.job(2).python
    assert python is not None
    assert python["version"] == ".".join(map(str, sys.version_info[:3]))
    home.tarmac("kill", "all")
