"""One process per attempt, forked from the agent: sees its command through from the start record to the exit record.

It depends on no other process: the agent may die and come back at any moment. It holds the lock of the run folder as
long as it lives; whoever finds the lock free and no exit record knows that the shim itself was killed.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Dict, NoReturn, Optional

from tarmac.agent import command, crashpoint, kernel, process, protocol
from tarmac.agent.cgroup import Leaf
from tarmac.agent.containment import Containment
from tarmac.agent.protocol import Message
from tarmac.agent.records import EXIT, START, STOP, RunFolder
from tarmac.agent.scan import MARK, Tree
from tarmac.agent.spec import Spec

STRAGGLER_GRACE_S = 2.0
_KILL_AGAIN_S = 0.2
_RECORD_AGAIN_S = 1.0


class Shim:
    def __init__(
        self, spec: Spec, folder: RunFolder, report_fd: int, *, boot_id: str, mark: str, port: int, leaf: Optional[Leaf]
    ) -> None:
        self.spec = spec
        self.folder = folder
        self.report_fd = report_fd
        self.boot_id = boot_id
        self.mark = mark
        self.port = port
        self.leaf = leaf
        self.started_at = 0.0
        self.pid = 0  # of the command

    def run(self) -> NoReturn:
        os.setsid()
        kernel.become_subreaper()
        kernel.set_name(b"tarmac-shim")
        try:
            trouble = self._launch()
        except OSError as error:
            # No leaf, no process, no space for the start record. The command was not released, so it did not run.
            trouble = f"{self.spec.argv[0]}: cannot be started: {error.strerror}"
        if trouble is None:
            self._tell(protocol.started(self.spec.job, self.spec.attempt, pid=self.pid, at=self.started_at))
            self._conclude(self._wait())
        else:
            self._conclude(protocol.launch_failed(self.spec.job, self.spec.attempt, message=trouble, at=time.time()))
        os._exit(0)

    def _launch(self) -> Optional[str]:
        """None once the command runs, else why it does not."""
        release_read, release_write = os.pipe()
        failure_read, failure_write = os.pipe()
        try:
            self._fork(release_read, release_write, failure_write)
            os.close(failure_write)
            self._record_start()
            _release(release_write)
        finally:
            os.close(release_write)
        trouble = os.read(failure_read, 8192)
        crashpoint.reach("shim:after-exec")
        os.close(failure_read)
        return trouble.decode() if trouble else None

    def _fork(self, release_read: int, release_write: int, failure_write: int) -> None:
        if self.leaf is not None:
            self.leaf.make()
        crashpoint.reach("shim:before-fork")
        self.pid = os.fork() if self.leaf is None else self.leaf.fork()
        if self.pid == 0:
            os.close(release_write)
            command.become(self.spec, self._environment(), release_read, failure_write)
        os.close(release_read)
        crashpoint.reach("shim:after-fork")

    def _environment(self) -> Dict[str, str]:
        env = self.spec.env
        env["MASTER_PORT"] = str(self.port)
        env[MARK] = self.mark
        return env

    def _record_start(self) -> None:
        crashpoint.reach("shim:before-start-record")
        me = process.read_stat(os.getpid())
        main = process.read_stat(self.pid)
        self.started_at = time.time()
        self.folder.write_durably(
            START,
            {
                "job": self.spec.job,
                "attempt": self.spec.attempt,
                "boot_id": self.boot_id,
                "shim_pid": os.getpid(),
                "shim_start_time": me.start_time if me else 0,
                "pid": self.pid,
                "start_time": main.start_time if main else 0,
                "started_at": self.started_at,
                "port": self.port,
                "cgroup": self.leaf.path if self.leaf else None,
            },
        )
        crashpoint.reach("shim:after-start-record")

    def _wait(self) -> Message:
        """Until the command itself ends; orphans of its tree that end before are reaped on the way."""
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == self.pid:
                return protocol.exited(
                    self.spec.job, self.spec.attempt, status=status, pid=pid, started_at=self.started_at, at=time.time()
                )

    def _conclude(self, final: Message) -> None:
        is_recorded = self._record_exit(final)
        if not self._is_tree_gone():
            self._end_stragglers()
        crashpoint.reach("shim:before-report")
        self._tell(final)
        crashpoint.reach("shim:after-report")
        if self.leaf is not None:
            self.leaf.remove()
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
        me = process.read_stat(os.getpid())
        containment = Containment(self.leaf, Tree(self.mark, os.getpid(), me.start_time if me else 0))
        stop = self.folder.read(STOP)
        if stop is not None and (stop["job"], stop["attempt"]) == (self.spec.job, self.spec.attempt):
            deadline = stop["deadline"]  # they had their signal with the command, and have as long as it had
        else:
            containment.signal(signal.SIGTERM)
            deadline = time.monotonic() + STRAGGLER_GRACE_S
        while not self._is_tree_gone():
            if time.monotonic() >= deadline:
                containment.kill()
                deadline = time.monotonic() + _KILL_AGAIN_S
            # Blocked since the agent's start, so one that came just before is not missed.
            signal.sigtimedwait([signal.SIGCHLD], max(0.0, deadline - time.monotonic()))

    def _tell(self, message: Message) -> None:
        try:
            os.write(self.report_fd, protocol.encode(message))
        except OSError:
            pass  # the agent is gone; the next one reads the records


def _release(fd: int) -> None:
    crashpoint.reach("shim:before-release")
    try:
        os.write(fd, b"g")
    except BrokenPipeError:
        pass  # it has failed to prepare itself and says why
    crashpoint.reach("shim:after-release")
