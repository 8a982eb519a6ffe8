"""Calls back once a process has ended: by pidfd, or by polling every second where the kernel has no pidfds."""

from __future__ import annotations

import os
from typing import Optional

from tarmac.agent.loop import Callback, Loop, Timer
from tarmac.shared.system import kernel, proc

_POLL_S = 1.0


class ProcessWatch:
    def __init__(self, loop: Loop, pid: int, start_time: Optional[int], on_end: Callback, name: str) -> None:
        """`start_time` None: a child not waited for yet, so its pid cannot belong to another process."""
        self._loop = loop
        self.on_end = on_end  # may be replaced until it is called
        self._name = name
        self._timer: Optional[Timer] = None
        self._pidfd = _open(pid, start_time)
        if self._pidfd is not None:
            loop.watch(self._pidfd, self._fire, name)
            return
        self._pid = pid
        self._start_time = start_time
        self._timer = loop.after(0.0, self._poll, name)

    def cancel(self) -> None:
        if self._pidfd is not None:
            self._loop.unwatch(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        if self._timer is not None:
            self._timer.cancel()

    def _poll(self) -> None:
        if self._is_alive():
            self._timer = self._loop.after(_POLL_S, self._poll, self._name)
        else:
            self._fire()

    def _is_alive(self) -> bool:
        if self._start_time is None:
            return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        return proc.is_same(self._pid, self._start_time)

    def _fire(self) -> None:
        self.cancel()
        self.on_end()


def _open(pid: int, start_time: Optional[int]) -> Optional[int]:
    if start_time is not None:
        return proc.open_same(pid, start_time)
    try:
        return kernel.pidfd_open(pid)
    except OSError:
        return None
