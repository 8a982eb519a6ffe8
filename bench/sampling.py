"""The cost of reading GPUs: eight GPUs in use on the stand-in driver, all values change once a second."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from bench.home import children
from bench.idling import cpu_s
from tests.agent_peer import AgentPeer, start_agent
from tests.nvml.standin import Gpu, Process, Standin, build

GPUS = 8
SETTLE_S = 3
WATCHED_S = 30


def figures() -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="tarmac-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        (folder / "lib").mkdir()
        driver = Standin(build(folder / "lib"), folder)
        holders = [subprocess.Popen(["sleep", "3600"]) for _ in range(2 * GPUS)]
        for holder in holders:
            stack.callback(holder.wait)
            stack.callback(holder.kill)
        show(driver, holders, 0)
        agent = start_agent(folder, TARMAC_FAKE_GPUS="", **driver.env)
        stack.callback(agent.wait)
        stack.callback(os.kill, agent.pid, signal.SIGTERM)
        stack.callback(AgentPeer(folder).close)
        percent = measure(driver, holders, agent.pid)
    yield Figure(
        what=f"sampling {GPUS} GPUs at 1 Hz: CPU",
        measured=f"{percent * WATCHED_S * 10:.0f} ms in {WATCHED_S} s",
        ratio=percent,
        unit="%",
        must=1.0,
        aim=0.3,
    )


def measure(driver: Standin, holders: list[subprocess.Popen[bytes]], agent: int) -> float:
    """CPU use of the agent and its probe together, in per cent of a core."""
    time.sleep(SETTLE_S)
    pids = [agent, *children(agent)]
    before_s = sum(map(cpu_s, pids))
    for second in range(WATCHED_S):
        show(driver, holders, second)
        time.sleep(1)
    return 100 * (sum(map(cpu_s, pids)) - before_s) / WATCHED_S


def show(driver: Standin, holders: list[subprocess.Popen[bytes]], second: int) -> None:
    uuids = [f"GPU-{n}" for n in range(GPUS)]
    driver.show(
        *(
            Gpu(
                uuid=uuid,
                memory_used_bytes=second * 1024**2,
                utilization=second % 100,
                power_w=100 + second,
                ecc_errors=0,
                near={other: 10 for other in uuids if other != uuid},
                processes=tuple(Process(pid=p.pid) for p in holders[2 * n : 2 * n + 2]),
            )
            for n, uuid in enumerate(uuids)
        )
    )
