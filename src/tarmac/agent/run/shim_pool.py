"""Shims without a job, each with a run folder it has locked and its next command's process waiting: a start need not
wait for two forks, and a shim that has seen a job through takes the next. It ends with its channel to the agent.
"""

from __future__ import annotations

import os
import socket
from typing import List, NamedTuple, NoReturn, Optional, Tuple

from tarmac.agent.loop import Loop, Timer, log, log_exception
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.agent.run.run_folder import RunFolder
from tarmac.agent.run.run_folders import Folders
from tarmac.agent.run.shim import Shim
from tarmac.shared import crashpoint, kernel

_FEWEST = 2
_MOST = 16
_TRIM_S = 10.0  # more than the fewest are kept that long
_REFILL_S = 0.005  # when the job just started has left the processor
_AFTER_TROUBLE_S = 1.0


class AgentContext(NamedTuple):
    """What every attempt on this agent has in common."""

    folders: Folders
    boot_id: str
    instance: str  # tells this state folder's processes from those of another
    cgroup_base: Optional[str]  # None: containment by scan

    def mark(self, job: int, attempt: int) -> str:
        return f"{self.instance}:{job}.{attempt}"


class IdleShim:
    def __init__(self, folder: RunFolder, leaf: Optional[Leaf], pid: int, channel: socket.socket) -> None:
        self.folder = folder
        self.leaf = leaf
        self.pid = pid
        self.channel = channel
        self.watch: ProcessWatch


class Spares:
    def __init__(self, loop: Loop, place: AgentContext) -> None:
        self._loop = loop
        self._place = place
        self._ready: List[IdleShim] = []
        self._leaving: List[IdleShim] = []
        self._leaves = 0
        self._forked = 0
        self._refill_timer: Optional[Timer] = None
        self._trim_timer: Optional[Timer] = None

    @property
    def pids(self) -> List[int]:
        return [spare.pid for spare in self._ready + self._leaving]

    def take(self, *, is_fresh: bool = False) -> IdleShim:
        """The one used last, whose memory is warm, or one forked now. OSError when there is no space or no process."""
        spare = self._ready.pop() if self._ready and not is_fresh else self._fork(in_advance=False)
        self._refill_in(_REFILL_S)
        return spare

    def give_back(self, spare: IdleShim) -> None:
        """Its attempt is forgotten and it waits for another."""
        spare.watch.ended = lambda: self._died(spare)
        try:
            self._place.folders.take_back(spare.folder)
        except OSError as error:
            log(f"a run folder cannot be used again: {error}")
            self.discard(spare)
            return
        self._ready.append(spare)
        if len(self._ready) > _MOST:
            self.discard(self._ready.pop(0))
        if len(self._ready) > _FEWEST and self._trim_timer is None:
            self._trim_timer = self._loop.after(_TRIM_S, self._trim, "spare shims")

    def discard(self, spare: IdleShim) -> None:
        """It ends with its channel."""
        spare.channel.close()
        self._leaving.append(spare)

    def refill(self) -> None:
        self._refill_timer = None
        if len(self._ready) >= _FEWEST:
            return
        try:
            self._ready.insert(0, self._fork(in_advance=True))
        except OSError as error:
            log(f"no shim can be forked in advance: {error}")
            self._refill_in(_AFTER_TROUBLE_S)
        else:
            self._refill_in(_REFILL_S)

    def _refill_in(self, seconds: float) -> None:
        if len(self._ready) < _FEWEST and self._refill_timer is None:
            self._refill_timer = self._loop.after(seconds, self.refill, "spare shims")

    def _trim(self) -> None:
        self._trim_timer = None
        while len(self._ready) > _FEWEST:
            self.discard(self._ready.pop(0))

    def _fork(self, *, in_advance: bool) -> IdleShim:
        folder = self._place.folders.make(in_advance=in_advance)
        leaf = None
        try:
            leaf = self._make_leaf()
            pid, channel = self._fork_with(folder, leaf)
        except OSError:
            _remove(folder, leaf)
            raise
        channel.setblocking(False)
        spare = IdleShim(folder, leaf, pid, channel)
        spare.watch = ProcessWatch(self._loop, pid, None, lambda: self._died(spare), "spare shim")
        return spare

    def _fork_with(self, folder: RunFolder, leaf: Optional[Leaf]) -> Tuple[int, socket.socket]:
        # Locked before the fork: the shim inherits the lock, so there is no gap.
        lock_fd = folder.take_lock()
        assert lock_fd is not None, "a folder made just now is locked"
        ours, theirs = socket.socketpair()
        try:
            pid = os.fork()
            if pid == 0:
                crashpoint.count_from(self._forked)
                _become_shim(self._place, folder, leaf, lock_fd, theirs.fileno())
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(lock_fd)
        self._forked += 1
        return pid, ours

    def _make_leaf(self) -> Optional[Leaf]:
        while self._place.cgroup_base is not None:
            self._leaves += 1
            leaf = Leaf(f"{self._place.cgroup_base}/run-{os.getpid()}-{self._leaves}")
            if leaf.make():
                return leaf
        return None

    def _died(self, spare: IdleShim) -> None:
        """Without a job."""
        os.waitpid(spare.pid, 0)
        spare.channel.close()
        for those in (self._ready, self._leaving):
            if spare in those:
                those.remove(spare)
        _remove(spare.folder, spare.leaf)
        self._refill_in(_AFTER_TROUBLE_S)


def _remove(folder: RunFolder, leaf: Optional[Leaf]) -> None:
    folder.remove()
    if leaf is not None:
        leaf.remove()


def _become_shim(
    place: AgentContext, folder: RunFolder, leaf: Optional[Leaf], lock_fd: int, channel_fd: int
) -> NoReturn:
    try:
        # The agent's sockets and locks must not live on in the shim.
        kernel.close_all_but(place.folders.runs_fd, folder.fd, lock_fd, channel_fd)
        folder.parent_fd = place.folders.runs_fd  # where it is by the time there is something to write
        Shim(folder, channel_fd, boot_id=place.boot_id, instance=place.instance, leaf=leaf).run()
    except BaseException:  # noqa: BLE001  the outermost frame of a process
        log_exception(f"shim {os.getpid()}")
    finally:
        os._exit(125)
