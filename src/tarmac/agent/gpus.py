"""Keeps the GPU probe going: a child of its own, because a driver call may hang or crash. Passes on what it reads."""

from __future__ import annotations

import os
import signal
import time
from typing import Callable, List, NoReturn, Optional

from tarmac.agent import kernel
from tarmac.agent.attribution import Attribution
from tarmac.agent.loop import Loop, log
from tarmac.agent.memory import read_memory
from tarmac.agent.protocol import Decoder, Message, ProtocolError
from tarmac.agent.watch import ProcessWatch

_SILENT_S = 30.0
_NO_DRIVER = 3
_NO_DRIVER_AGAIN_S = 60.0
_LONGEST_BACKOFF_S = 60.0


class GpuWatch:
    def __init__(self, loop: Loop, send: Callable[[Message], None], attribution: Callable[[], Attribution]) -> None:
        self.latest: Optional[Message] = None
        self.pid: Optional[int] = None
        self._loop = loop
        self._send = send
        self._attribution = attribution
        self._decoder = Decoder()
        self._fd: Optional[int] = None
        self._heard_at = 0.0
        self._backoff_s = 1.0

    def begin(self) -> None:
        read_fd, write_fd = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_probe(write_fd)
        os.close(write_fd)
        self.pid = pid
        self._fd = read_fd
        self._decoder = Decoder()
        self._heard_at = time.monotonic()
        self._loop.watch(read_fd, self._read, "GPU probe")
        ProcessWatch(self._loop, pid, None, self._ended, "GPU probe")
        self._loop.after(_SILENT_S, lambda: self._check(pid), "GPU probe")

    def _read(self) -> None:
        if self._fd is None:
            return
        data = os.read(self._fd, 262144)
        self._heard_at = time.monotonic()
        try:
            messages = self._decoder.feed(data)
        except ProtocolError as error:
            log(f"GPU probe: {error}")
            data = b""
            messages = []
        for message in messages:
            if message["type"] == "gpus":
                self._backoff_s = 1.0
                self._publish(self._attributed(message))
        if not data:
            self._close()

    def _attributed(self, message: Message) -> Message:
        if any(gpu["processes"] for gpu in message["gpus"]):
            attribution = self._attribution()
            for gpu in message["gpus"]:
                gpu["processes"] = [attribution.name(holder) for holder in gpu["processes"]]
        return message

    def _publish(self, message: Message) -> None:
        if message != self.latest:
            self.latest = message
            self._send(message)

    def _close(self) -> None:
        if self._fd is not None:
            self._loop.unwatch(self._fd)
            os.close(self._fd)
            self._fd = None

    def _check(self, pid: int) -> None:
        if pid != self.pid:
            return
        silent_s = time.monotonic() - self._heard_at
        if silent_s < _SILENT_S:
            self._loop.after(_SILENT_S - silent_s, lambda: self._check(pid), "GPU probe")
            return
        log(f"GPU probe {pid} has been silent for {silent_s:.0f} s, killing it")
        known = self.latest["gpus"] if self.latest else []
        self._publish(_without_probe(known, "the GPU driver does not answer"))
        # Not replaced before it is gone: one that hangs inside the driver cannot be killed, and another would hang too.
        os.kill(pid, signal.SIGKILL)

    def _ended(self) -> None:
        assert self.pid is not None
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        while self._fd is not None:
            self._read()
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _NO_DRIVER:
            self._loop.after(_NO_DRIVER_AGAIN_S, self.begin, "GPU probe")
            return
        log(f"GPU probe ended with wait status {status}, begins again in {self._backoff_s:.0f} s")
        if self.latest is None:
            self._publish(_without_probe([], "the GPU probe crashed"))
        self._loop.after(self._backoff_s, self.begin, "GPU probe")
        self._backoff_s = min(2 * self._backoff_s, _LONGEST_BACKOFF_S)


def _without_probe(gpus: List[Message], error: str) -> Message:
    return {"type": "gpus", "gpus": gpus, "error": error, "source": "none", "host": read_memory()}


def _become_probe(write_fd: int) -> NoReturn:
    code = 1
    try:
        kernel.close_all_but(write_fd)
        kernel.set_name(b"tarmac-probe")
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        from tarmac.agent import probe

        code = probe.main(write_fd, os.environ.get("TARMAC_FAKE_GPUS"))
    except BaseException as error:  # noqa: BLE001  the outermost frame of a process
        log(f"GPU probe: {type(error).__name__}: {error}")
    finally:
        os._exit(code)
