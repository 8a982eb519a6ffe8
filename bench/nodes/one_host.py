"""A real host on loopback, with sshd: how much longer a job takes to start there, and how soon its output is seen."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench import stamps
from bench.clock import median, p95
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from tests.services import has
from tests.ssh.lab import Lab

JOBS = 40
LINES = 60
WRITER = "import time\nfor _ in range({count}):\n print(time.monotonic(), flush=True)\n time.sleep(0.1)\n"
MS = 1000


def figures(program: str) -> Iterator[Figure]:
    if not all(map(has, ("root", "ip", "ssh", "sshd", "python3"))):
        print("left out: a host with sshd needs root, iproute2 and openssh", file=sys.stderr)
        return
    with ExitStack() as stack:
        far = stack.enter_context(over_ssh(program))
        near = stack.enter_context(home(program, gpus=1))
        local, remote = take_offs(near, far)
        delays = follow(far)
    yield Figure(
        what="start on a node − start on this machine",
        measured=milliseconds(median(remote) - median(local)),
        ratio=MS * (median(remote) - median(local)),
        unit="ms",
        must=20,
        aim=10,
        note=f"({milliseconds(median(local))} here)",
    )
    yield Figure(
        what="output of a job on a node → `log -f`, p95",
        measured=milliseconds(p95(delays)),
        ratio=MS * p95(delays),
        unit="ms",
        must=200,
        aim=50,
        note=f"(median {milliseconds(median(delays))})",
    )


def take_offs(near: Home, far: Home) -> tuple[list[float], list[float]]:
    """From the return of the submit to the first instruction, in turns."""
    found: tuple[list[float], list[float]] = ([], [])
    for place, taken in JOBS * list(zip((near, far), found, strict=True)):
        file = place.stamps_file()
        (job,) = place.client.submit_many([{"command": [place.program, file], "gpus": 1, "cwd": "/"}])
        returned_s = time.monotonic()
        taken.append(stamps.wait_for(file, 1)[0].start_s - returned_s)
        place.client.wait(job)
    return found


def follow(far: Home) -> list[float]:
    """The job writes what the clock of this machine shows, and so the delay of each line is known."""
    command = ["/usr/bin/python3", "-c", WRITER.format(count=LINES)]
    job = far.client.submit(command, gpus=1, cwd="/").id
    delays, rest = [], b""
    for data in far.client.logs(job, follow=True):
        seen_s = time.monotonic()
        *lines, rest = (rest + data).split(b"\n")
        delays += [seen_s - float(line) for line in lines]
    return delays[LINES // 10 :]  # the follower may begin late


@contextmanager
def over_ssh(program: str) -> Iterator[Home]:
    """A queue whose only GPU is on another host. Its files are where both see them."""
    lab = Lab()
    path = os.environ["PATH"]
    os.environ["PATH"] = lab.environment["PATH"]
    try:
        shared = lab.path / "shared"
        shared.mkdir()
        shutil.copy(program, shared)
        lab.host("gpu01", gpus="1")
        with home(str(shared / os.path.basename(program)), gpus=0, below=str(shared)) as place:
            os.environ["PATH"] = path
            place.client.add_node("gpu01", "gpu01")
            while not place.client.gpus():
                time.sleep(0.05)
            yield place
    finally:
        os.environ["PATH"] = path
        lab.close()
