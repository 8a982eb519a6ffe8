"""Idle shims, each with a locked run directory and a waiting process for its next command: a start waits for no fork.

A shim whose attempt is over takes another (see decision 0008). An idle shim ends when its channel to the agent closes.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
from typing import List, NamedTuple, NoReturn, Optional, Tuple

from tarmac.agent.loop import Loop, Timer, log, log_exception
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.records.run_folder import RunFolder
from tarmac.agent.records.run_folders import RunFolders
from tarmac.agent.run.shim.shim import Shim
from tarmac.shared import crashpoint
from tarmac.shared.system import kernel

_FEWEST = 2
_MOST = 16
_TRIM_S = 10.0  # more than the fewest stay that long
_REFILL_S = 0.005  # later: the job just started needs the processor now
_AFTER_TROUBLE_S = 1.0
_RESERVE = 64  # descriptors


class AgentContext(NamedTuple):
    """What all attempts of this agent have in common."""

    folders: RunFolders
    boot_id: str
    instance: str  # distinguishes the processes of this state directory from those of another
    cgroup_base: Optional[str]  # None: containment by scan

    def mark(self, key: AttemptKey) -> str:
        return f"{self.instance}:{key}"


class IdleShim:
    def __init__(self, folder: RunFolder, leaf: Optional[Leaf], pid: int, channel: socket.socket) -> None:
        self.folder = folder
        self.leaf = leaf
        self.pid = pid
        self.channel = channel
        self.watch: ProcessWatch


class ShimPool:
    def __init__(self, loop: Loop, context: AgentContext) -> None:
        self._loop = loop
        self._context = context
        self._ready: List[IdleShim] = []
        self._leaving: List[IdleShim] = []
        self._leaves = 0
        self._forked = 0
        self._refill_timer: Optional[Timer] = None
        self._trim_timer: Optional[Timer] = None

    @property
    def pids(self) -> List[int]:
        return [shim.pid for shim in self._ready + self._leaving]

    def take(self, *, is_fresh: bool = False) -> IdleShim:
        """Return the shim used last, whose memory is warm, or fork one. Raises OSError if that fails."""
        shim = self._ready.pop() if self._ready and not is_fresh else self._fork(in_advance=False)
        self._refill_in(_REFILL_S)
        return shim

    def give_back(self, shim: IdleShim) -> None:
        """Take back a shim whose attempt is forgotten."""
        shim.watch.on_end = lambda: self._died(shim)
        try:
            self._context.folders.reuse(shim.folder)
        except OSError as error:
            log(f"cannot reuse a run directory: {error}")
            self.discard(shim)
            return
        self._ready.append(shim)
        if len(self._ready) > _MOST:
            self.discard(self._ready.pop(0))
        if len(self._ready) > _FEWEST and self._trim_timer is None:
            self._trim_timer = self._loop.after(_TRIM_S, self._trim, "shim pool")

    def discard(self, shim: IdleShim) -> None:
        """Close its channel, which ends it."""
        shim.channel.close()
        self._leaving.append(shim)

    def refill(self) -> None:
        self._refill_timer = None
        if len(self._ready) >= _FEWEST:
            return
        try:
            self._ready.insert(0, self._fork(in_advance=True))
        except OSError as error:
            log(f"cannot fork a shim in advance: {error}")
            self._refill_in(_AFTER_TROUBLE_S)
        else:
            self._refill_in(_REFILL_S)

    def _refill_in(self, seconds: float) -> None:
        if len(self._ready) < _FEWEST and self._refill_timer is None:
            self._refill_timer = self._loop.after(seconds, self.refill, "shim pool")

    def _trim(self) -> None:
        self._trim_timer = None
        while len(self._ready) > _FEWEST:
            self.discard(self._ready.pop(0))

    def _fork(self, *, in_advance: bool) -> IdleShim:
        folder = self._context.folders.create(in_advance=in_advance)
        leaf = None
        try:
            leaf = self._create_leaf()
            pid, channel = self._fork_with(folder, leaf)
        except OSError:
            _remove(folder, leaf)
            raise
        channel.setblocking(False)
        shim = IdleShim(folder, leaf, pid, channel)
        shim.watch = ProcessWatch(self._loop, pid, None, lambda: self._died(shim), "idle shim")
        return shim

    def _fork_with(self, folder: RunFolder, leaf: Optional[Leaf]) -> Tuple[int, socket.socket]:
        # Locked before the fork: the shim inherits the lock, so the folder is never unlocked.
        lock_fd = folder.take_lock()
        assert lock_fd is not None, "a new folder is not locked"
        try:
            ours, theirs = _channel()
        except OSError:
            os.close(lock_fd)
            raise
        try:
            pid = os.fork()
            if pid == 0:
                crashpoint.count_from(self._forked)
                _become_shim(self._context, folder, leaf, lock_fd, theirs.fileno())
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(lock_fd)
        self._forked += 1
        return pid, ours

    def _create_leaf(self) -> Optional[Leaf]:
        while self._context.cgroup_base is not None:
            self._leaves += 1
            leaf = Leaf(f"{self._context.cgroup_base}/run-{os.getpid()}-{self._leaves}")
            if leaf.create():
                return leaf
        return None

    def _died(self, shim: IdleShim) -> None:
        os.waitpid(shim.pid, 0)
        shim.channel.close()
        for shims in (self._ready, self._leaving):
            if shim in shims:
                shims.remove(shim)
        _remove(shim.folder, shim.leaf)
        self._refill_in(_AFTER_TROUBLE_S)


def _channel() -> Tuple[socket.socket, socket.socket]:
    """Raises OSError also if few descriptors are left: connections, scans and stops need some."""
    ours, theirs = socket.socketpair()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    # The kernel gives out the lowest free number, so almost all below it are taken.
    if limit != resource.RLIM_INFINITY and theirs.fileno() >= limit - min(_RESERVE, limit // 4):
        ours.close()
        theirs.close()
        raise OSError(errno.EMFILE, f"the agent's limit of {limit} open files is reached; raise it (ulimit -Hn)")
    return ours, theirs


def _remove(folder: RunFolder, leaf: Optional[Leaf]) -> None:
    folder.remove()
    if leaf is not None:
        leaf.remove()


def _become_shim(
    context: AgentContext, folder: RunFolder, leaf: Optional[Leaf], lock_fd: int, channel_fd: int
) -> NoReturn:
    try:
        # The agent's sockets and locks must not live on in the shim.
        kernel.close_all_but(context.folders.runs_fd, folder.fd, lock_fd, channel_fd)
        folder.parent_fd = context.folders.runs_fd  # where it will be when there is something to write
        Shim(folder, channel_fd, boot_id=context.boot_id, instance=context.instance, leaf=leaf).run()
    except BaseException:  # noqa: BLE001  the outermost frame of a process
        log_exception(f"shim {os.getpid()}")
    finally:
        os._exit(125)
