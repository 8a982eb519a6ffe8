"""All processes of one attempt, whichever way they are held: to count them, to signal them, to end them for good.

With a cgroup, the kernel's list and the shim's descendants together: a job run by root may have moved a process out.
"""

from __future__ import annotations

import os
import signal
from typing import Dict, Optional, Tuple

from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.procs.proc_scan import Tree
from tarmac.agent.run.run_folder import Record
from tarmac.shared import proc

# Any other finds a stopped process asleep, which cannot obey before it is told to go on.
_HEEDED_ASLEEP = (signal.SIGKILL, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def choose(instance: str) -> Tuple[Optional[str], Optional[str]]:
    """The folder for cgroups, or None (scan) and the reason."""
    if os.environ.get("TARMAC_CONTAINMENT") == "scan":
        return None, "TARMAC_CONTAINMENT=scan is set"
    return cgroup.find_base(instance)


class Containment:
    def __init__(self, leaf: Optional[Leaf], tree: Tree) -> None:
        self.leaf = leaf
        self.tree = tree

    def members(self) -> Dict[int, int]:
        """pid → start time of all that are alive."""
        found = {stat.pid: stat.start_time for stat in self.tree.members()}
        if self.leaf is not None:
            for pid in self.leaf.members():
                stat = None if pid in found else proc.read_stat(pid)
                if stat is not None and stat.is_alive:
                    found[pid] = stat.start_time
        return found

    def signal(self, signum: int) -> None:
        """To those there are now: what they start in answer to it, say to save their work, is left alone."""
        send(self.members(), signum)

    def kill(self) -> None:
        """SIGKILL to all there are and to those that appear meanwhile; the caller looks again until there are none."""
        if self.leaf is not None:
            self.leaf.kill()
        seen: Dict[int, int] = {}
        while True:
            fresh = {pid: start for pid, start in self.members().items() if seen.get(pid) != start}
            if not fresh:
                return
            for pid, start_time in fresh.items():
                proc.send_signal(pid, start_time, signal.SIGKILL)
            seen.update(fresh)


def send(members: Dict[int, int], signum: int) -> None:
    for pid, start_time in members.items():
        proc.send_signal(pid, start_time, signum)
        if signum not in _HEEDED_ASLEEP:
            proc.send_signal(pid, start_time, signal.SIGCONT)


def from_record(start: Record, mark: str) -> Containment:
    """As the start record describes it, which is all that a later agent has."""
    tree = Tree(mark, start["shim_pid"], start["shim_start_time"])
    tree.main = start["pid"]
    tree.main_start_time = start["start_time"]
    return Containment(Leaf(start["cgroup"]) if start["cgroup"] else None, tree)
