"""How much of the host's memory an attempt takes: by its cgroup, otherwise by its processes.

A cgroup counts pages that several processes share once, and files that the kernel could drop are left out. Without a
memory controller, shared pages are left out, because they would be counted for each process.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional

from tarmac.agent.procs.proc_scan import read_all

if TYPE_CHECKING:
    from tarmac.agent.procs.cgroup import Leaf
    from tarmac.agent.run.attempt import Attempt
    from tarmac.shared.frames.to_agent import JobMemoryQuestionFrame
    from tarmac.shared.frames.to_controller import JobMemoryEntry, JobMemoryFrame
    from tarmac.shared.system.proc import Stat

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def answer(frame: JobMemoryQuestionFrame, attempts: Iterable[Attempt]) -> JobMemoryFrame:
    found: List[JobMemoryEntry] = []
    stats: Optional[Dict[int, Stat]] = None  # of all processes, read once for all attempts without a cgroup
    for attempt in attempts:
        if attempt.is_over:
            continue
        taken = None if attempt.leaf is None else _by_cgroup(attempt.leaf)
        if taken is None:
            pids = [] if attempt.leaf is None else attempt.leaf.members()
            if not pids:
                stats = read_all() if stats is None else stats
                pids = [stat.pid for stat in attempt.escalation.containment().tree.members(stats)]
            taken = _by_processes(pids)
        if taken is not None:
            found.append({"job": attempt.key.job, "attempt": attempt.key.attempt, "bytes": taken})
    return {"type": "job_memory", "ref": frame.get("ref"), "taken": found}


def _by_cgroup(leaf: Leaf) -> Optional[int]:
    try:
        with open(f"{leaf.path}/memory.current", "rb") as file:
            taken = int(file.read())
        with open(f"{leaf.path}/memory.stat", "rb") as file:
            for line in file:
                name, _, value = line.partition(b" ")
                if name == b"inactive_file":
                    taken -= int(value)
    except (OSError, ValueError):
        return None  # without a memory controller, or it has just ended
    return max(0, taken)


def _by_processes(pids: Iterable[int]) -> Optional[int]:
    pages = [found for pid in pids if (found := _private_pages(pid)) is not None]
    return sum(pages) * _PAGE_BYTES if pages else None


def _private_pages(pid: int) -> Optional[int]:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return None
    return max(0, int(resident) - int(shared))
