"""One attempt as the agent sees it: which shim it has, the newest report, and what becomes of it when the shim ends."""

from __future__ import annotations

import os
import time
from typing import Callable, Optional, Tuple

from tarmac.agent import kernel, protocol
from tarmac.agent.launch import Launched
from tarmac.agent.loop import Loop
from tarmac.agent.protocol import Decoder, Message
from tarmac.agent.records import EXIT, START, RunFolder

Key = Tuple[int, int]


class Run:
    def __init__(self, loop: Loop, key: Key, folder: RunFolder, port: Optional[int], send: Callable[[Message], None]) -> None:
        self.loop = loop
        self.key = key
        self.name = f"job {key[0]}.{key[1]}"
        self.folder = folder
        self.port = port
        self.report: Optional[Message] = None
        self._send = send
        self._report_fd: Optional[int] = None
        self._decoder = Decoder()
        self._pidfd: Optional[int] = None
        self.shim_pid = 0

    @property
    def is_over(self) -> bool:
        return self.report is not None and protocol.is_final(self.report)

    def watch_own_shim(self, launched: Launched) -> None:
        self.shim_pid = launched.shim_pid
        self._report_fd = launched.report_fd
        self.loop.watch(launched.report_fd, self._read_reports, self.name)
        self._pidfd = kernel.pidfd_open(launched.shim_pid)
        if self._pidfd is not None:
            self.loop.watch(self._pidfd, self._shim_ended, self.name)

    def _read_reports(self) -> None:
        assert self._report_fd is not None
        data = os.read(self._report_fd, 65536)
        for message in self._decoder.feed(data):
            self.tell(message)
        if not data:
            self.loop.unwatch(self._report_fd)
            os.close(self._report_fd)
            self._report_fd = None

    def tell(self, report: Message) -> None:
        if not self.is_over:
            self.report = report
            self._send(report)

    def _shim_ended(self) -> None:
        assert self._pidfd is not None
        os.waitpid(self.shim_pid, os.WNOHANG)
        self.loop.unwatch(self._pidfd)
        os.close(self._pidfd)
        self._pidfd = None
        while self._report_fd is not None:
            self._read_reports()
        if not self.is_over:
            record = self.folder.read(EXIT)
            if record:
                self.tell(record)
            elif self.folder.read(START):
                self.tell(protocol.lost(*self.key, message="its shim was killed", alive=False, at=time.time()))
