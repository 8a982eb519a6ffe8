"""One process per attempt, forked from the agent, that sees its command through from the start record to the exit record.

It depends on no other process: the agent may die and come back at any moment. It holds the lock of the run folder as
long as it lives; whoever finds the lock free and no exit record knows that the shim itself was killed.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from typing import Dict, NoReturn, Optional, Union

from tarmac.agent import command, crashpoint, kernel, process, protocol
from tarmac.agent.cgroup import Leaf
from tarmac.agent.protocol import Message
from tarmac.agent.records import EXIT, START, STOP, RunFolder
from tarmac.agent.scan import MARK, Tree
from tarmac.agent.spec import Spec

STRAGGLER_GRACE_S = 2.0
_RETRY_S = 1.0


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
        trouble = self._launch()
        if trouble is None:
            self._tell(protocol.started(self.spec.job, self.spec.attempt, pid=self.pid, at=self.started_at))
            final = self._wait()
        else:
            final = self._failure(trouble)
        self._conclude(final)
        os._exit(0)

    def _launch(self) -> Optional[str]:
        """None once the command runs, else why it does not."""
        if self.leaf is not None:
            self.leaf.make()
        release_read, release_write = os.pipe()
        failure_read, failure_write = os.pipe()
        crashpoint.reach("shim:before-fork")
        self.pid = os.fork() if self.leaf is None else self.leaf.fork()
        if self.pid == 0:
            os.close(release_write)
            command.become(self.spec, self._environment(), release_read, failure_write)
        crashpoint.reach("shim:after-fork")
        os.close(release_read)
        os.close(failure_write)
        self._record_start()
        os.write(release_write, b"g")
        crashpoint.reach("shim:after-release")
        trouble = os.read(failure_read, 4096)
        crashpoint.reach("shim:after-exec")
        os.close(release_write)
        os.close(failure_read)
        return trouble.decode() if trouble else None

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

    def _failure(self, message: str) -> Message:
        return protocol.launch_failed(self.spec.job, self.spec.attempt, message=message, at=time.time())

    def _conclude(self, final: Message) -> None:
        crashpoint.reach("shim:before-exit-record")
        self.folder.write_durably(EXIT, final)
        crashpoint.reach("shim:after-exit-record")
        self._tell(final)

    def _tell(self, message: Message) -> None:
        try:
            os.write(self.report_fd, protocol.encode(message))
        except OSError:
            pass  # the agent is gone; the next one reads the records
