"""The event loop: descriptors, timers, nothing else. One thread, because the agent forks.

A callback that raises is logged under its name and does not affect others. Callbacks must tolerate spurious calls.
"""

from __future__ import annotations

import heapq
import select
import sys
import time
from typing import Callable, Dict, List, Optional, Tuple

from tarmac.shared.own_log import OwnLog

READ = select.EPOLLIN
WRITE = select.EPOLLOUT

_LONGEST_POLL_S = 3600.0  # epoll accepts at most 24 days

Callback = Callable[[], None]


class Timer:
    __slots__ = ("callback", "name")

    def __init__(self, callback: Callback, name: str) -> None:
        self.callback: Optional[Callback] = callback
        self.name = name

    def cancel(self) -> None:
        self.callback = None


class Loop:
    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: Dict[int, Tuple[Callback, str]] = {}
        self._timers: List[Tuple[float, int, Timer]] = []
        self._timer_count = 0
        self._stopped = False

    def watch(self, fd: int, callback: Callback, name: str, events: int = READ) -> None:
        self._epoll.register(fd, events)
        self._watched[fd] = (callback, name)

    def change(self, fd: int, events: int) -> None:
        self._epoll.modify(fd, events)

    def unwatch(self, fd: int) -> None:
        """Call this before closing the descriptor: a copy in a forked child would keep it in the epoll set."""
        del self._watched[fd]
        self._epoll.unregister(fd)

    def after(self, seconds: float, callback: Callback, name: str) -> Timer:
        timer = Timer(callback, name)
        self._timer_count += 1
        heapq.heappush(self._timers, (time.monotonic() + seconds, self._timer_count, timer))
        return timer

    def stop(self) -> None:
        self._stopped = True

    def run(self) -> None:
        while not self._stopped:
            for fd, _ in self._epoll.poll(self._timeout()):
                watched = self._watched.get(fd)
                if watched:
                    _guarded(*watched)
            self._run_due_timers()

    def _timeout(self) -> float:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return -1
        return min(_LONGEST_POLL_S, max(0.0, self._timers[0][0] - time.monotonic()))

    def _run_due_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            timer = heapq.heappop(self._timers)[2]
            if timer.callback is not None:
                _guarded(timer.callback, timer.name)


def _guarded(callback: Callback, name: str) -> None:
    try:
        callback()
    except Exception:  # noqa: BLE001  one job's trouble must not become another's
        log_exception(name)


_own_log: Optional[OwnLog] = None


def log_to(path: str) -> None:
    """From now on, log to this file, and to the same file in every forked process."""
    global _own_log  # noqa: PLW0603  one log per process, as it has one standard error
    _own_log = OwnLog(path)
    _own_log.open()


def has_log_file() -> bool:
    return _own_log is not None


def log(line: str) -> None:
    """Write to agent.log, or to standard error before it is open. A full disk must not stop the agent."""
    text = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}"
    if _own_log is not None:
        _own_log.write(text)
        return
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        pass


def log_exception(name: str) -> None:
    """Log the exception being handled. Imports the module only now: every fork copies the agent's pages."""
    import traceback

    log(f"{name}: unexpected error\n{traceback.format_exc()}")
