"""What fifty open pages cost the controller, while jobs run and the readings of GPUs change."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.figures import Figure
from bench.home import Home, home
from bench.idling import MB, cpu_s, pss_bytes
from bench.page.login import Login, log_in
from tarmac.client import Client

PAGES = 50
GPUS = 8
WAITING = 100
SETTLE_S = 3.0
WATCHED_S = 20.0
JOB_S = 2  # with 8 GPUs, four jobs start and end each second


def figures(program: str) -> Iterator[Figure]:
    os.environ["TARMAC_FAKE_LOAD"] = "1"
    try:
        with home(program, gpus=GPUS) as place, jobs_that_come_and_go(place):
            time.sleep(SETTLE_S)
            controller = place.client.status()["controller_pid"]
            alone = watched(controller)
            with visitors(log_in(place.client), PAGES):
                time.sleep(SETTLE_S)
                visited = watched(controller)
    finally:
        del os.environ["TARMAC_FAKE_LOAD"]
    yield Figure(
        what=f"{PAGES} open pages: CPU of the controller",
        measured=f"{visited[0] - alone[0]:.1f} % of a core",
        ratio=visited[0] - alone[0],
        unit="%",
        must=20,
        aim=10,
        note=f"{alone[0]:.1f} % without pages",
    )
    more_mb = (visited[1] - alone[1]) / MB
    yield Figure(
        what=f"{PAGES} open pages: memory",
        measured=f"{more_mb:.1f} MB",
        ratio=more_mb,
        unit="MB",
        must=30,
        aim=15,
        note=f"{alone[1] / MB:.0f} MB without pages",
    )


def watched(controller: int) -> tuple[float, int]:
    """Percent of a core that the controller used, and its memory at the end."""
    before_s = cpu_s(controller)
    time.sleep(WATCHED_S)
    return 100 * (cpu_s(controller) - before_s) / WATCHED_S, pss_bytes(controller)


@contextmanager
def jobs_that_come_and_go(place: Home) -> Iterator[None]:
    """Short jobs on every GPU, and others that wait for them."""
    over = threading.Event()

    def submit() -> None:
        client = Client(place.folder)
        while not over.is_set():
            queue = client.call("GET", "/queue")
            jobs = [{"command": ["sleep", str(JOB_S)], "gpus": 1}] * max(0, WAITING - queue["queued"])
            # Simulated GPUs look for the jobs of their home.
            environment = {"PATH": os.environ["PATH"], "TARMAC_HOME": place.folder}
            if jobs:
                client.call("POST", "/jobs", body={"cwd": "/", "environment": environment, "jobs": jobs})
            over.wait(1)
        client.kill("all", grace_s=0)
        client.close()

    thread = threading.Thread(target=submit)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def visitors(login: Login, count: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.page.visitors", login.host, login.cookie, str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        yield
        process.stdin.close()
    if process.returncode:
        raise RuntimeError("the visitors failed")
