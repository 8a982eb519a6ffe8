"""The event loop: descriptors, timers, nothing else. One thread, because the agent forks.

A callback that raises is logged under its name and does not affect others. One that lacks descriptors or memory is
called again a second later. Callbacks must tolerate spurious calls.
"""

from __future__ import annotations

import heapq
import select
import sys
import time
from typing import Callable, Dict, List, Optional, Set, Tuple

from tarmac.shared.own.log import OwnLog
from tarmac.shared.system.shortage import is_shortage

READ = select.EPOLLIN
WRITE = select.EPOLLOUT

_AFTER_SHORTAGE_S = 1.0
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
        self._events: Dict[int, int] = {}
        self._muted: Set[int] = set()  # not listened to for a while
        self._timers: List[Tuple[float, int, Timer]] = []
        self._timer_count = 0
        self._stopped = False

    def watch(self, fd: int, callback: Callback, name: str, events: int = READ) -> None:
        self._epoll.register(fd, events)
        self._watched[fd] = (callback, name)
        self._events[fd] = events

    def change(self, fd: int, events: int) -> None:
        self._events[fd] = events
        if fd not in self._muted:
            self._epoll.modify(fd, events)

    def unwatch(self, fd: int) -> None:
        """Call this before closing the descriptor: a copy in a forked child would keep it in the epoll set."""
        del self._watched[fd], self._events[fd]
        if fd in self._muted:
            self._muted.discard(fd)
        else:
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
                    self._call(*watched, fd=fd)
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
                self._call(timer.callback, timer.name)

    def _call(self, callback: Callback, name: str, fd: Optional[int] = None) -> None:
        try:
            callback()
        except OSError as error:
            if is_shortage(error):
                self._call_later(callback, name, fd, error)
            else:
                log_exception(name)
        except Exception:  # noqa: BLE001  one job's trouble must not become another's
            log_exception(name)

    def _call_later(self, callback: Callback, name: str, fd: Optional[int], error: OSError) -> None:
        log(f"{name}: {error.strerror}, trying again")
        if fd is None or fd not in self._watched or self._watched[fd][0] != callback:
            self.after(_AFTER_SHORTAGE_S, callback, name)
            return
        # It would be called at once, again and again.
        self._muted.add(fd)
        self._epoll.unregister(fd)
        self.after(_AFTER_SHORTAGE_S, lambda: self._unmute(fd, callback, name), name)

    def _unmute(self, fd: int, callback: Callback, name: str) -> None:
        if fd in self._muted and self._watched[fd][0] == callback:
            self._muted.discard(fd)
            self._epoll.register(fd, self._events[fd])
            self._call(callback, name, fd=fd)


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
    """Log the exception being handled. Without the module `traceback`, which opens source files: there may be no
    descriptor left."""
    kind, error, trace = sys.exc_info()
    lines = [f"{name}: unexpected error", "Traceback (most recent call last):"]
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {trace.tb_lineno}, in {code.co_name}')
        trace = trace.tb_next
    lines.append(f"{kind.__name__ if kind else None}: {error}")
    log("\n".join(lines))
