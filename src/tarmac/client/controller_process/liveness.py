"""Why a controller does not answer, according to /proc: it is busy, stopped or stuck.

Never advise killing a controller that works: the request may be in progress.
"""

from __future__ import annotations

import os
from time import sleep

LOOK_S = 0.5
AT_WORK_TICKS = 3  # of 50 in that time; an idle controller uses fewer
STOPPED = {"T", "t"}


def diagnose_silence(pid: int, look_s: float = LOOK_S) -> str:
    """busy, stopped or stuck. A process that cannot be read counts as stuck."""
    before = _seen(f"/proc/{pid}")
    if before is not None and before[0] in STOPPED:
        return "stopped"
    sleep(look_s)
    after = _seen(f"/proc/{pid}")
    if before is None or after is None:
        return "stuck"
    ticks = after[1] - before[1]
    is_starved = ticks > 0 and before[0] == after[0] == "R"  # a loaded machine gives it little processor time
    return "busy" if ticks >= AT_WORK_TICKS or is_starved or _waits_for_disk(pid) else "stuck"


def is_stopped(pid: int) -> bool:
    """True for a process that was stopped by a signal, as by Ctrl-Z."""
    seen = _seen(f"/proc/{pid}") if pid else None
    return seen is not None and seen[0] in STOPPED


def _waits_for_disk(pid: int) -> bool:
    """True if a thread waits for the disk: a large commit takes long."""
    folder = f"/proc/{pid}/task"
    try:
        threads = [_seen(f"{folder}/{thread}") for thread in os.listdir(folder)]
    except OSError:
        return False
    return any(seen is not None and seen[0] == "D" for seen in threads)


def _seen(folder: str) -> tuple[str, int] | None:
    """State and CPU time in ticks, for a process that of all its threads."""
    try:
        with open(f"{folder}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], int(fields[11]) + int(fields[12])
    except (OSError, IndexError, ValueError):
        return None
