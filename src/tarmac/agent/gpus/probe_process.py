"""One probe process and its pipe, as the agent holds them. That it hangs is seen in the memory the two share."""

from __future__ import annotations

import os
import signal
from typing import Callable, NoReturn, Optional

from tarmac.agent.gpus import probe
from tarmac.agent.gpus.heartbeat import Beat, DriverSpot
from tarmac.agent.gpus.probe import Order
from tarmac.agent.loop import Loop, log
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.shared import kernel, proc
from tarmac.shared.protocol import Decoder, Message, ProtocolError


class Probing:
    def __init__(
        self, loop: Loop, order: Order, heard: Callable[[Message], None], ended: Callable[[Probing, int], None]
    ) -> None:
        self.order = order
        self.is_killed = False
        self._loop = loop
        self._heard = heard
        self._ended = ended
        self._decoder = Decoder()
        self._beat = Beat()
        self._count = 0
        self._still = 0  # looks without any move
        read_fd, write_fd = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _become_probe(write_fd, self._beat, order)
        os.close(write_fd)
        self._fd: Optional[int] = read_fd
        loop.watch(read_fd, self._read, "GPU probe")
        ProcessWatch(loop, self.pid, None, self._reap, "GPU probe")

    def look(self, *, is_late: bool) -> int:
        """How many looks in a row found it where it was before. One that comes late proves nothing."""
        count, _ = self._beat.read()
        self._still = 0 if is_late or count != self._count else self._still + 1
        self._count = count
        return self._still

    @property
    def place(self) -> Optional[DriverSpot]:
        """Where it is; None: asleep."""
        return self._beat.read()[1]

    @property
    def is_running(self) -> bool:
        """On a processor, or waiting for one."""
        stat = proc.read_stat(self.pid)
        return stat is not None and stat.state == "R"

    def kill(self) -> None:
        """It may take long, or never happen, while it is inside the driver. Nothing it says counts any more."""
        self.is_killed = True
        self._close()
        os.kill(self.pid, signal.SIGKILL)

    def _read(self) -> None:
        if self._fd is None:
            return
        data = os.read(self._fd, 262144)
        try:
            messages = self._decoder.feed(data)
        except ProtocolError as error:
            log(f"GPU probe: {error}")
            data, messages = b"", []
        for message in messages:
            self._heard(message)
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
        self._ended(self, status)


def _become_probe(write_fd: int, beat: Beat, order: Order) -> NoReturn:
    code = 1
    try:
        kernel.close_all_but(write_fd)
        kernel.set_name(b"tarmac-probe")
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        code = probe.main(write_fd, beat=beat, order=order)
    except BaseException as error:  # noqa: BLE001  the outermost frame of a process
        log(f"GPU probe: {type(error).__name__}: {error}")
    finally:
        os._exit(code)
