"""All processes of one attempt, by cgroup or by scan: list them, signal them, kill them.

With a cgroup, both the kernel's list and the shim's descendants count: a job run by root may have moved a process out.
"""

from __future__ import annotations

import os
import signal
from typing import Dict, Optional

from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import CgroupBase, Leaf
from tarmac.agent.procs.proc_scan import ProcessTree
from tarmac.agent.records.run_folder import Record
from tarmac.shared import proc

# A stopped process handles any other signal only after SIGCONT.
_HANDLED_WHILE_STOPPED = (
    signal.SIGKILL,
    signal.SIGCONT,
    signal.SIGSTOP,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)


def choose(instance: str) -> CgroupBase:
    if os.environ.get("TARMAC_CONTAINMENT") == "scan":
        return CgroupBase(None, "TARMAC_CONTAINMENT=scan is set")
    return cgroup.find_base(instance)


class Containment:
    def __init__(self, leaf: Optional[Leaf], tree: ProcessTree) -> None:
        self.leaf = leaf
        self.tree = tree

    def members(self) -> Dict[int, int]:
        """Return pid → start time of all living processes."""
        found = {stat.pid: stat.start_time for stat in self.tree.members()}
        if self.leaf is not None:
            for pid in self.leaf.members():
                stat = None if pid in found else proc.read_stat(pid)
                if stat is not None and stat.is_alive:
                    found[pid] = stat.start_time
        return found

    def signal(self, signum: int) -> None:
        """Signal the processes that exist now. Those they start in response, such as to save their work, are spared."""
        self.send(self.members(), signum)

    def send(self, members: Dict[int, int], signum: int) -> None:
        for pid, start_time in members.items():
            self._send_to(pid, start_time, signum)
            if signum not in _HANDLED_WHILE_STOPPED:
                self._send_to(pid, start_time, signal.SIGCONT)

    def kill(self) -> None:
        """Send SIGKILL to all processes, also to those that appear meanwhile. The caller repeats it as needed."""
        if self.leaf is not None:
            self.leaf.kill()
        seen: Dict[int, int] = {}
        while True:
            fresh = {pid: start for pid, start in self.members().items() if seen.get(pid) != start}
            if not fresh:
                return
            for pid, start_time in fresh.items():
                self._send_to(pid, start_time, signal.SIGKILL)
            seen.update(fresh)

    def _send_to(self, pid: int, start_time: int, signum: int) -> None:
        proc.send_signal(pid, start_time, signum)


def from_record(start: Record, mark: str) -> Containment:
    """Build it from the start record, which is all that a later agent has."""
    tree = ProcessTree(mark, start["shim_pid"], start["shim_start_time"])
    tree.main = start["pid"]
    tree.main_start_time = start["start_time"]
    tree.tag = start.get("tag")  # records of older agents have none
    return Containment(Leaf(start["cgroup"]) if start["cgroup"] else None, tree)
