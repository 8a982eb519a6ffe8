"""What it costs to watch the logs of 200 running jobs, for progress, size and the reason of failures."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bench.figures import Figure
from bench.home import Home, children, home
from bench.idling import cpu_s

JOBS = 200
SETTLE_S = 20.0  # the first looks at new logs are over by then
WATCHED_S = 60.0
FAILURES = 20  # jobs that run out of memory meanwhile
LIMIT = "1G"
BAR = "{:3d}%|████████▏ | {}/1000 [02:31<15:40,  1.06s/it, loss=0.734]"
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24 GiB"
)


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=1) as place:
        jobs = start(place)
        agent = place.client.status()["agent_pid"]
        assert agent is not None
        watchers = Watchers(place.daemons(), agent)
        write(place, jobs, SETTLE_S, watchers)
        before_s = watchers.spent_s
        fail(place)
        place.client.close()
        write(place, jobs, WATCHED_S, watchers)
        percent = 100 * (watchers.spent_s - before_s) / WATCHED_S
        end(place, jobs)
    yield Figure(
        what=f"watching the logs of {JOBS} running jobs: CPU",
        measured=f"{percent * WATCHED_S * 10:.0f} ms in {WATCHED_S:.0f} s",
        ratio=percent,
        unit="%",
        must=2.0,
        aim=1.0,
        note=f"({FAILURES} ran out of memory)",
    )


def start(place: Home) -> list[int]:
    """Jobs that run, and one that waits for their memory: so their progress matters."""
    place.client.set("max_cpu_jobs", str(2 * JOBS))
    place.client.set("log_limit", LIMIT)
    place.client.set("suspend_after_failures", "0")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    jobs = place.client.submit_many(
        [{"command": ["sleep", "3600"], "gpus": 0, "memory_bytes": 1 << 20} for _ in range(JOBS)]
    )
    while any(place.client.job(job).state != "running" for job in jobs):
        time.sleep(0.1)
    place.client.submit(["true"], gpus=0, memory_bytes=memory - (100 << 20))
    return jobs


class Watchers:
    """The CPU time of the controller, the agent and its file helpers, which come and go."""

    def __init__(self, daemons: list[int], agent: int) -> None:
        self._daemons = daemons
        self._agent = agent
        self._spent: dict[int, float] = {}

    def look(self) -> None:
        helpers = [pid for pid in children(self._agent) if name_of(pid) == "tarmac-files"]
        for pid in [*self._daemons, *helpers]:
            with suppress(FileNotFoundError, ProcessLookupError):
                self._spent[pid] = cpu_s(pid)

    @property
    def spent_s(self) -> float:
        self.look()
        return sum(self._spent.values())


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        return ""


def write(place: Home, jobs: list[int], seconds: float, watchers: Watchers) -> None:
    """Write what the jobs would: a progress bar in each log, every second."""
    paths = [Path(place.folder) / "logs" / f"{job}.1.log" for job in jobs]
    until = time.monotonic() + seconds
    step = 0
    while time.monotonic() < until:
        step += 1
        for path in paths:
            with path.open("a", encoding="utf-8") as log:
                log.write("\r" + BAR.format(step // 10, step))
        watchers.look()
        time.sleep(1.0)


def fail(place: Home) -> None:
    script = f"seq 1000; echo Traceback...; echo '{OUT_OF_MEMORY}'; exit 1"
    place.client.submit_many([{"command": script, "gpus": 0} for _ in range(FAILURES)])


def end(place: Home, jobs: list[int]) -> None:
    place.client.kill("all", grace_s=0)
    for job in jobs:
        pid = place.client.job(job).pid
        if pid is not None and os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGKILL)
