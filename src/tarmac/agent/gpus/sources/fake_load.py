"""Simulated GPUs that look busy, with `TARMAC_FAKE_LOAD=1`: memory and load follow the jobs on them. For demos.

Each job takes the part of the memory that its id says, within half a minute, and a load that goes up and down.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Dict, List, NamedTuple
from zlib import crc32

from tarmac.shared.system import boot_clock, proc

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu
    from tarmac.agent.gpus.gpu_processes import ProcessTable

FILLED_AFTER_S = 10.0  # two thirds of what it takes in the end
COLD_C, COLD_W = 34, 38.0


class BusyJob(NamedTuple):
    pid: int
    job: str
    gpus: List[int]  # indices
    runs_s: float


def add_load(gpus: List[ProbedGpu], jobs: List[BusyJob], processes: ProcessTable) -> List[ProbedGpu]:
    """The GPUs as they would be with these jobs on them."""
    on: Dict[int, List[BusyJob]] = {}
    for job in jobs:
        for index in job.gpus:
            on.setdefault(index, []).append(job)
    return [_with_jobs(gpu, on.get(gpu["index"], []), processes) for gpu in gpus]


def _with_jobs(gpu: ProbedGpu, jobs: List[BusyJob], processes: ProcessTable) -> ProbedGpu:
    parts = [_memory_part(job) / len(jobs) for job in jobs]
    load = min(100, round(sum(_load(job) for job in jobs)))
    total = gpu["memory_total_bytes"]
    return {
        **gpu,
        "memory_used_bytes": sum(int(total * part) for part in parts),
        "utilization": load,
        "temperature": COLD_C + load * 2 // 5,
        "power_w": round(COLD_W + load * 2.4, 1),
        "processes": [
            {**processes.look_up(job.pid), "memory_bytes": int(total * part)} for job, part in zip(jobs, parts)
        ],
    }


def _memory_part(job: BusyJob) -> float:
    wanted = 0.35 + 0.6 * (crc32(job.job.encode()) % 101) / 100
    return wanted * (1 - math.exp(-job.runs_s / FILLED_AFTER_S))


def _load(job: BusyJob) -> float:
    """Training alternates between the GPU and the data loader."""
    phase = crc32(job.job.encode()) % 7
    return 82 + 14 * math.sin(job.runs_s / 5 + phase)


def running_jobs(home: str) -> List[BusyJob]:
    """The main processes of the jobs of this home, by their environment."""
    now, found = boot_clock.seconds(), []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            variables = _environment(name)
            stat = proc.read_stat(int(name)) if "TARMAC_JOB_ID" in variables else None
            if stat is not None and stat.session == stat.pid and variables.get("TARMAC_HOME", "") == home:
                gpus = [int(word) for word in variables.get("TARMAC_GPUS", "").split(",") if word.isdecimal()]
                runs_s = max(0.0, now - stat.start_time / proc.TICKS_PER_S)
                found.append(BusyJob(stat.pid, variables["TARMAC_JOB_ID"], gpus, runs_s))
    return found


def _environment(pid: str) -> Dict[str, str]:
    """Empty for a process of another user, or one that has ended."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return {}
    pairs = (entry.partition("=") for entry in text.split("\0"))
    return {name: value for name, _, value in pairs if name.startswith("TARMAC_")}
