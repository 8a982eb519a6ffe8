"""A temporary Tarmac home with simulated GPUs and the program of the jobs."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tarmac.client import Client

HERE = Path(__file__).parent
TARMAC = os.path.join(os.path.dirname(sys.executable), "tarmac")


class Home:
    def __init__(self, folder: str, program: str) -> None:
        self.folder = folder
        self.program = program
        self.client = Client(folder)
        self.env = {**os.environ, "TARMAC_HOME": folder}
        self._files = 0
        self._holder: int | None = None

    def stamps_file(self) -> str:
        self._files += 1
        return os.path.join(self.folder, f"stamps-{self._files}")

    def cli(self, *words: str) -> list[str]:
        return [TARMAC, *words]

    def hold_all_gpus(self) -> None:
        """Run a job on all GPUs, so that later jobs stay queued."""
        job = self.client.submit(["sleep", "3600"], gpus=len(self.client.gpus())).id
        while self.client.job(job).state != "running":
            time.sleep(0.01)
        self._holder = self.client.job(job).pid

    def close(self) -> None:
        """Stop Tarmac before its jobs: the end of a job would start queued ones."""
        ours = self.daemons()
        self.client.stop()
        while any(os.path.exists(f"/proc/{pid}") for pid in ours):
            time.sleep(0.05)
        if self._holder:
            os.kill(self._holder, signal.SIGKILL)

    def daemons(self) -> list[int]:
        status = self.client.status()
        return [status["controller_pid"], status["agent_pid"]]

    def processes(self) -> list[int]:
        """The controller, the agent, and the children of both."""
        daemons = self.daemons()
        return daemons + [child for pid in daemons for child in children(pid)]


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def compile_program(folder: str) -> str:
    program = os.path.join(folder, "stamp")
    subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Werror", "-o", program, HERE / "stamp.c"], check=True)
    return program


@contextmanager
def home(program: str, gpus: int, below: str | None = None) -> Iterator[Home]:
    folder = tempfile.mkdtemp(prefix="tarmac-bench-", dir=below)
    os.environ["TARMAC_FAKE_GPUS"] = str(gpus)  # the first call starts the controller with this environment
    found = Home(folder, program)
    try:
        found.client.status()
        yield found
    finally:
        try:
            found.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
