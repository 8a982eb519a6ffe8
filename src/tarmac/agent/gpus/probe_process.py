"""The agent's handle on one probe process: its pipe, and the shared memory that shows whether it hangs."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Callable, List, NoReturn, Optional, cast

from tarmac.agent.gpus import probe
from tarmac.agent.gpus.heartbeat import DriverSpot, Heartbeat
from tarmac.agent.gpus.probe import ProbeScope
from tarmac.agent.loop import Loop, log
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.shared.own import process_title
from tarmac.shared.protocol import Decoder, ProtocolError
from tarmac.shared.system import kernel, proc

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbeFrame


class ProbeProcess:
    def __init__(
        self,
        loop: Loop,
        scope: ProbeScope,
        on_frame: Callable[[ProbeFrame], None],
        on_end: Callable[[ProbeProcess, int], None],
    ) -> None:
        """`on_end` gets the wait status."""
        self.scope = scope
        self.is_killed = False
        self._loop = loop
        self._on_frame = on_frame
        self._on_end = on_end
        self._decoder = Decoder()
        self._heartbeat = Heartbeat()
        self._steps = 0
        self._stalled = 0  # consecutive checks without progress
        read_fd, write_fd = os.pipe()
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _become_probe(write_fd, self._heartbeat, scope)
        except OSError:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
        self._fd: Optional[int] = read_fd
        loop.watch(read_fd, self._read, "GPU probe")
        ProcessWatch(loop, self.pid, None, self._reap, "GPU probe")

    def check(self, *, is_late: bool) -> int:
        """Return how many consecutive checks saw no progress. A check that came late proves nothing."""
        steps = self._heartbeat.read().steps
        self._stalled = 0 if is_late or steps != self._steps else self._stalled + 1
        self._steps = steps
        return self._stalled

    @property
    def spot(self) -> Optional[DriverSpot]:
        """Where it is now; None: asleep."""
        return self._heartbeat.read().spot

    @property
    def is_running(self) -> bool:
        """On a processor, or waiting for one."""
        stat = proc.read_stat(self.pid)
        return stat is not None and stat.state == "R"

    def kill(self) -> None:
        """Ignore it from now on. Inside the driver, its end may take long or never come."""
        self.is_killed = True
        self._close()
        os.kill(self.pid, signal.SIGKILL)

    def _read(self) -> None:
        if self._fd is None:
            return
        data = os.read(self._fd, 262144)
        try:
            frames = cast("List[ProbeFrame]", self._decoder.feed(data))
        except ProtocolError as error:
            log(f"GPU probe: {error}")
            data, frames = b"", []
        for frame in frames:
            self._on_frame(frame)
        if not data:
            self._close()

    def _close(self) -> None:
        if self._fd is not None:
            self._loop.unwatch(self._fd)
            os.close(self._fd)
            self._fd = None

    def _reap(self) -> None:
        _, status = os.waitpid(self.pid, 0)
        while self._fd is not None:
            self._read()
        self._on_end(self, status)


def _become_probe(write_fd: int, heartbeat: Heartbeat, scope: ProbeScope) -> NoReturn:
    code = 1
    try:
        kernel.die_with_parent()  # while a driver call hangs, it would not notice that the agent is gone
        kernel.close_all_but(write_fd)
        kernel.set_name(b"tarmac-probe")
        process_title.change("tarmac: probe")
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        code = probe.main(write_fd, heartbeat=heartbeat, scope=scope)
    except BaseException as error:  # noqa: BLE001  the outermost frame of a process
        log(f"GPU probe: {type(error).__name__}: {error}")
    finally:
        os._exit(code)
