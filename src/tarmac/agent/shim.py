"""One process per attempt, forked from the agent: sees its command through from the start record to the exit record.

It depends on no other process: the agent may die and come back at any moment. It holds the lock of the run folder as
long as it lives; whoever finds the lock free and no exit record knows that the shim itself was killed.
"""

from __future__ import annotations

import os
import signal
import time
from typing import NoReturn, Optional, Tuple

from tarmac.agent import command, crashpoint, kernel, process, protocol
from tarmac.agent.cgroup import Leaf
from tarmac.agent.containment import Containment
from tarmac.agent.protocol import Message
from tarmac.agent.records import EXIT, SPEC, START, STOP, Record, RunFolder
from tarmac.agent.scan import Tree

STRAGGLER_GRACE_S = 2.0
_KILL_AGAIN_S = 0.2
_RECORD_AGAIN_S = 1.0
_TRIES = 5
_LAUNCH_TRIES = 3


class Shim:
    def __init__(
        self, folder: RunFolder, channel_fd: int, *, boot_id: str, instance: str, leaf: Optional[Leaf]
    ) -> None:
        self.folder = folder
        self.channel_fd = channel_fd
        self.boot_id = boot_id
        self.instance = instance
        self.leaf = leaf
        self.key: Tuple[int, int] = (0, 0)
        self.me = 0
        self.my_start_time = 0
        self.pid = 0  # of the command
        self.pid_start_time = 0
        self.started_at = 0.0
        self.has_killed = False

    def run(self) -> NoReturn:
        os.setsid()
        kernel.become_subreaper()
        kernel.set_name(b"tarmac-shim")
        self.me = os.getpid()
        self.my_start_time = _start_time(self.me)
        while True:
            command_fd, failure_fd = self._fork()
            order, start = self._receive()
            if not start:
                self._leave(command_fd)
            self._see_through(order, start, command_fd, failure_fd)
            if self._is_worn_out():
                self._retire()
            self._tell({"type": "idle"})

    def _see_through(self, order: bytes, start: bytes, command_fd: int, failure_fd: int) -> None:
        trouble = self._launch(order, start, command_fd, failure_fd)
        if trouble is None:
            self._tell(protocol.started(*self.key, pid=self.pid, at=self.started_at))
            self._conclude(self._wait())
        else:
            self._conclude(protocol.launch_failed(*self.key, message=trouble, at=time.time()))

    # Without a job

    def _fork(self, *, is_moved: bool = False) -> Tuple[int, int]:
        """The command's process, waiting for its job; the pipe to it, and the one that tells why it cannot execute."""
        if self.leaf is not None and self.pid:
            self.leaf.renew()
        command_read, command_write = os.pipe()
        failure_read, failure_write = os.pipe()
        crashpoint.reach("shim:before-fork")
        if self.leaf is None:
            self.pid = os.fork()
        else:
            self.pid = self.leaf.fork_and_move() if is_moved else self.leaf.fork()
        if self.pid == 0:
            os.close(command_write)
            command.become(self.instance, command_read, failure_write)
        crashpoint.reach("shim:after-fork")
        os.close(command_read)
        os.close(failure_write)
        self.pid_start_time = _start_time(self.pid)
        return command_write, failure_read

    def _receive(self) -> Tuple[bytes, bytes]:
        """The order and the start frame; empty when the agent ended before there were both."""
        try:
            order = protocol.read_frame(self.channel_fd)
            if order and protocol.decode(order)["is_left"]:
                return order, self.folder.pick_up(SPEC)
            return order, protocol.read_frame(self.channel_fd)
        except OSError:
            return b"", b""

    def _leave(self, command_fd: int) -> NoReturn:
        os.close(command_fd)
        os.waitpid(self.pid, 0)
        self._retire()

    def _is_worn_out(self) -> bool:
        """A leaf that was killed is no place to be born in (see cgroup)."""
        return self.leaf is not None and (self.has_killed or self._read_stop() is not None)

    def _retire(self) -> NoReturn:
        if self.leaf is not None:
            self.leaf.remove()
        os._exit(0)

    # With a job

    def _launch(self, order: bytes, start: bytes, command_fd: int, failure_fd: int) -> Optional[str]:
        """None once the command runs, else why it does not."""
        orders = protocol.decode(order)
        self.key = (orders["job"], orders["attempt"])
        crashpoint.count_from(orders["nth"] - 1)
        for _ in range(_TRIES):
            _write(command_fd, order + start)  # it prepares itself while the record is written
            try:
                self._record_start(orders["port"])
                told = os.read(failure_fd, 8192).decode()
                if told == command.READY:
                    return self._release(command_fd, failure_fd)
                if told or self._read_stop() is not None:
                    return told or None
                # Killed while it waited: a signal for the attempt before came late. Nothing ran; try with another.
                os.waitpid(self.pid, 0)
                os.close(command_fd)
                os.close(failure_fd)
                command_fd, failure_fd = self._fork()
            except OSError as error:
                os.close(command_fd)  # not released, so it does not run
                return f"cannot be started: {error.strerror}"
        return "cannot be started: its process was killed again and again before it began"

    def _release(self, command_fd: int, failure_fd: int) -> Optional[str]:
        crashpoint.reach("shim:before-release")
        _write(command_fd, b"g")
        crashpoint.reach("shim:after-release")
        trouble = os.read(failure_fd, 8192)
        crashpoint.reach("shim:after-exec")
        os.close(command_fd)
        os.close(failure_fd)
        return trouble.decode() or None

    def _record_start(self, port: int) -> None:
        crashpoint.reach("shim:before-start-record")
        self.started_at = time.time()
        self.folder.write_durably(
            START,
            {
                "job": self.key[0],
                "attempt": self.key[1],
                "boot_id": self.boot_id,
                "shim_pid": self.me,
                "shim_start_time": self.my_start_time,
                "pid": self.pid,
                "start_time": self.pid_start_time,
                "started_at": self.started_at,
                "port": port,
                "cgroup": self.leaf.path if self.leaf else None,
            },
        )
        crashpoint.reach("shim:after-start-record")

    def _wait(self) -> Message:
        """Until the command itself ends; orphans of its tree that end before are reaped on the way."""
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == self.pid:
                return protocol.exited(*self.key, status=status, pid=pid, started_at=self.started_at, at=time.time())

    def _conclude(self, final: Message) -> None:
        is_recorded = self._record_exit(final)
        if not self._is_tree_gone():
            self._end_stragglers()
        crashpoint.reach("shim:before-report")
        self._tell(final)
        crashpoint.reach("shim:after-report")
        while not is_recorded:
            time.sleep(_RECORD_AGAIN_S)
            is_recorded = self._record_exit(final)

    def _record_exit(self, final: Message) -> bool:
        """False when the disk is full: the agent is told all the same, and the record comes when there is space."""
        crashpoint.reach("shim:before-exit-record")
        try:
            self.folder.write_durably(EXIT, final)
        except FileNotFoundError:
            return True  # the attempt is forgotten already
        except OSError:
            return False
        crashpoint.reach("shim:after-exit-record")
        self.folder.is_on_disk = True
        return True

    def _is_tree_gone(self) -> bool:
        """As subreaper the shim inherits every orphan of its tree: no child left, nothing left."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return self.leaf is None or self.leaf.is_empty()
        return False

    def _end_stragglers(self) -> None:
        """What the command left behind (data loaders, mostly) holds its GPUs, so it must go: TERM, a while, KILL."""
        mark = f"{self.instance}:{self.key[0]}.{self.key[1]}"
        containment = Containment(self.leaf, Tree(mark, self.me, self.my_start_time))
        stop = self._read_stop()
        if stop is not None:
            deadline = stop["deadline"]  # they had their signal with the command, and have as long as it had
        else:
            containment.signal(signal.SIGTERM)
            deadline = time.monotonic() + STRAGGLER_GRACE_S
        while not self._is_tree_gone():
            if time.monotonic() >= deadline:
                self.has_killed = True
                containment.kill()
                deadline = time.monotonic() + _KILL_AGAIN_S
            # Blocked since the agent's start, so one that came just before is not missed.
            signal.sigtimedwait([signal.SIGCHLD], max(0.0, deadline - time.monotonic()))

    def _read_stop(self) -> Optional[Record]:
        """When this attempt was asked to end."""
        stop = self.folder.read(STOP)
        return stop if stop is not None and (stop["job"], stop["attempt"]) == self.key else None

    def _tell(self, message: Message) -> None:
        try:
            os.write(self.channel_fd, protocol.encode(message))
        except OSError:
            pass  # the agent is gone; the next one reads the records


def _start_time(pid: int) -> int:
    stat = process.read_stat(pid)
    return stat.start_time if stat else 0


def _write(fd: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(fd, data) :]
    except BrokenPipeError:
        pass  # the command's process has failed to prepare itself and says why, or was killed
