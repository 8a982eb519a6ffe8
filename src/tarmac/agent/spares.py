"""Shims forked in advance, each with its run folder locked and its command's process waiting: a start need not wait for
two forks. A shim gets its job through its channel; the end of that channel before a job came ends it.
"""

from __future__ import annotations

import os
import socket
import traceback
from typing import List, NamedTuple, NoReturn, Optional

from tarmac.agent import crashpoint, kernel
from tarmac.agent.cgroup import Leaf
from tarmac.agent.loop import Loop, log
from tarmac.agent.pool import Pool
from tarmac.agent.records import RunFolder
from tarmac.agent.shim import Shim
from tarmac.agent.watch import ProcessWatch

READY = 2
_REFILL_S = 0.005  # when the job just started has left the processor
_AFTER_TROUBLE_S = 1.0


class Place(NamedTuple):
    """What every attempt on this agent has in common."""

    pool: Pool
    boot_id: str
    instance: str  # tells this state folder's processes from those of another
    cgroup_base: Optional[str]  # None: containment by scan

    def mark(self, job: int, attempt: int) -> str:
        return f"{self.instance}:{job}.{attempt}"


class Spare:
    def __init__(self, folder: RunFolder, leaf: Optional[Leaf], pid: int, channel: socket.socket) -> None:
        self.folder = folder
        self.leaf = leaf
        self.pid = pid
        self.channel = channel
        self.watch: ProcessWatch


class Spares:
    def __init__(self, loop: Loop, place: Place) -> None:
        self._loop = loop
        self._place = place
        self._ready: List[Spare] = []
        self._forked = 0
        self._leaves = 0
        self._is_refilling = False

    @property
    def pids(self) -> List[int]:
        return [spare.pid for spare in self._ready]

    def take(self) -> Spare:
        """The oldest one, or one forked now. OSError when there is no space or no process to be had."""
        self._refill_in(_REFILL_S)
        return self._ready.pop(0) if self._ready else self._fork(in_advance=False)

    def refill(self) -> None:
        self._is_refilling = False
        if len(self._ready) >= READY:
            return
        try:
            self._ready.append(self._fork(in_advance=True))
        except OSError as error:
            log(f"no shim can be forked in advance: {error}")
            self._refill_in(_AFTER_TROUBLE_S)
        else:
            self._refill_in(_REFILL_S)

    def _refill_in(self, seconds: float) -> None:
        if not self._is_refilling:
            self._is_refilling = True
            self._loop.after(seconds, self.refill, "spare shims")

    def _fork(self, *, in_advance: bool) -> Spare:
        folder = self._place.pool.take(in_advance=in_advance)
        try:
            leaf = self._make_leaf()
            ours, theirs = socket.socketpair()
            lock_fd = folder.take_lock()
            assert lock_fd is not None, "a folder nobody uses is locked"
            try:
                pid = os.fork()
                if pid == 0:
                    crashpoint.count_from(self._forked)
                    _become_shim(self._place, folder, leaf, lock_fd, theirs.fileno())
            finally:
                theirs.close()
                os.close(lock_fd)
        except OSError:
            self._place.pool.give_back(folder)
            raise
        self._forked += 1
        ours.setblocking(False)
        spare = Spare(folder, leaf, pid, ours)
        spare.watch = ProcessWatch(self._loop, pid, None, lambda: self._died(spare), "spare shim")
        return spare

    def _make_leaf(self) -> Optional[Leaf]:
        while self._place.cgroup_base is not None:
            self._leaves += 1
            leaf = Leaf(f"{self._place.cgroup_base}/run-{os.getpid()}-{self._leaves}")
            if leaf.make():
                return leaf
        return None

    def discard(self, spare: Spare) -> None:
        """One that was taken and got no job: it ends with its channel."""
        spare.channel.close()

    def _died(self, spare: Spare) -> None:
        """Without ever having had a job."""
        os.waitpid(spare.pid, 0)
        spare.channel.close()
        if spare in self._ready:
            self._ready.remove(spare)
        spare.folder.remove()
        if spare.leaf is not None:
            spare.leaf.remove()
        self._refill_in(_AFTER_TROUBLE_S)


def _become_shim(place: Place, folder: RunFolder, leaf: Optional[Leaf], lock_fd: int, channel_fd: int) -> NoReturn:
    try:
        # The agent's sockets and locks must not live on in the shim.
        kernel.close_all_but(place.pool.runs_fd, folder.fd, lock_fd, channel_fd)
        folder.parent_fd = place.pool.runs_fd  # where it is by the time there is something to write
        Shim(folder, channel_fd, boot_id=place.boot_id, instance=place.instance, leaf=leaf).run()
    except BaseException:  # noqa: BLE001  the outermost frame of a process
        os.write(2, f"a shim failed:\n{traceback.format_exc()}".encode())
    finally:
        os._exit(125)
