"""What thousands of event streams cost those who submit."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.clock import median, samples, spawn
from bench.figures import Figure, milliseconds
from bench.home import Home, home

LISTENERS = 2_000
ARRAY = 100
ROUNDS = 15


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        place.hold_all_gpus()
        alone_s = add(place)
        with listeners(place, LISTENERS):
            heard_s = add(place)
    yield Figure(
        what=f"add --array {ARRAY}, {LISTENERS:,} event streams ÷ none",
        measured=milliseconds(heard_s),
        ratio=heard_s / alone_s,
        unit="×",
        must=3,
        aim=2,
    )


def add(place: Home) -> float:
    """The median time of an array that is queued right after the previous one."""
    command = place.cli("add", "--array", str(ARRAY), "--", place.program)
    return median(samples(lambda: spawn(command, place.env), ROUNDS))


@contextmanager
def listeners(place: Home, count: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.listeners", os.path.join(place.folder, "tarmac.sock"), str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.stdin.close()
