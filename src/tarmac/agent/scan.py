"""A job's processes where there is no cgroup: found in /proc as descendants of the shim, by session and by environment mark.

While the shim lives it is the subreaper, so its descendants are all there is. Once it was killed, what is left is
found by the mark in the environment, by the session of the command, and below those.
"""

from __future__ import annotations

import os
import signal
from typing import Dict, List, Optional, Set

from tarmac.agent import process
from tarmac.agent.process import Stat

MARK = "TARMAC_MARK"


class Tree:
    kind = "scan"

    def __init__(self, mark: str, shim: int, shim_start_time: int) -> None:
        self.mark = mark
        self.shim = shim
        self.shim_start_time = shim_start_time
        self.main: Optional[int] = None  # leads the command's session
        self._known: Dict[int, int] = {}  # pid → start time of all that were ever seen

    def members(self) -> List[Stat]:
        stats = _all_processes()
        shim = stats.get(self.shim)
        if shim is not None and shim.start_time == self.shim_start_time:
            found = _descendants(stats, {self.shim}) - {self.shim}
        else:
            found = _descendants(stats, self._strays(stats))
        alive = [stats[pid] for pid in sorted(found) if stats[pid].is_alive]
        self._known.update((stat.pid, stat.start_time) for stat in alive)
        return alive

    def _strays(self, stats: Dict[int, Stat]) -> Set[int]:
        me = os.getpid()
        mark = f"{MARK}={self.mark}".encode()
        return {
            pid
            for pid, stat in stats.items()
            if pid != me
            and (
                self._known.get(pid) == stat.start_time
                or (self.main is not None and stat.session == self.main and pid != self.main)
                or _has_mark(pid, mark)
            )
        }

    def is_empty(self) -> bool:
        return not self.members()

    def signal(self, signum: int) -> None:
        """To each process once, also to those that appear while this goes on."""
        seen: Set[int] = set()
        while True:
            fresh = [stat for stat in self.members() if stat.pid not in seen]
            if not fresh:
                return
            for stat in fresh:
                seen.add(stat.pid)
                process.send_signal(stat.pid, stat.start_time, signum)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)


def _all_processes() -> Dict[int, Stat]:
    stats = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = process.read_stat(int(name))
            if stat is not None:
                stats[stat.pid] = stat
    return stats


def _descendants(stats: Dict[int, Stat], roots: Set[int]) -> Set[int]:
    """The roots and all below them."""
    children: Dict[int, List[int]] = {}
    for stat in stats.values():
        children.setdefault(stat.parent, []).append(stat.pid)
    found = set(roots)
    todo = list(roots)
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found


def _has_mark(pid: int, mark: bytes) -> bool:
    try:
        fd = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        chunks = []
        while True:
            chunk = os.read(fd, 1024 * 1024)
            if not chunk:
                break
            chunks.append(chunk)
        return mark in b"".join(chunks).split(b"\0")
    except OSError:
        return False
    finally:
        os.close(fd)
