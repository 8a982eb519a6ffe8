"""The cost of an idle Tarmac: CPU time and memory of all its processes."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from bench.home import home

SETTLE_S = 3.0
WATCHED_S = 30.0
MB = 1024 * 1024


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        time.sleep(SETTLE_S)
        pids = place.processes()
        place.client.close()  # the benchmark's own connection would not be idle
        before_s = sum(map(cpu_s, pids))
        time.sleep(WATCHED_S)
        percent = 100 * (sum(map(cpu_s, pids)) - before_s) / WATCHED_S
        memory = sum(map(pss_bytes, pids)) / MB
        note = f"({len(pids)} processes)"
    yield Figure(
        what="idle: CPU",
        measured=f"{percent * WATCHED_S * 10:.0f} ms in {WATCHED_S:.0f} s",
        ratio=percent,
        unit="%",
        must=0.3,
        aim=0.1,
    )
    yield Figure(
        what="idle: memory (PSS)", measured=f"{memory:.1f} MB", ratio=memory, unit="MB", must=90, aim=60, note=note
    )


def cpu_s(pid: int) -> float:
    """CPU time of all threads, from schedstat: the 10 ms ticks of stat are too coarse."""
    spent = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        spent += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
    return spent / 1e9


def pss_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
