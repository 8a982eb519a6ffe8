"""The time limit of an attempt. The shim enforces it alone, so it holds while agent and controller are down.

It is measured on the monotonic clock from the release of the command. Setting the date does not move it, and time that
the machine is suspended does not count: the command did not run either.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Callable, Optional

from tarmac.agent.procs.containment import Containment
from tarmac.agent.records.pause_record import Pauses
from tarmac.agent.run.start_request import Limit

if TYPE_CHECKING:
    from tarmac.shared.frames.reports import ExitedFrame

_LONGEST_WAIT_S = 3600.0
_LOOK_AGAIN_S = 1.0  # after the end of a pause, if nobody says so
_KILL_AGAIN_S = 0.2
_KILL_AGAIN_AT_MOST_S = 5.0  # what SIGKILL does not end hangs in the kernel, and each search costs time


class TimeLimit:
    """Warns before the limit; at the limit, signals the whole tree; after the grace period, sends SIGKILL."""

    def __init__(
        self,
        limit: Limit,
        pid: int,
        tree: Containment,
        *,
        stop_deadline: Callable[[], Optional[float]],
        pauses: Callable[[], Pauses],
    ) -> None:
        self.has_fired = False  # the signal was sent while the command was running
        self.kill_at: Optional[float] = None  # set once the limit is reached
        self._limit = limit
        self._pid = pid
        self._tree = tree
        self._stop_deadline = stop_deadline
        self._pauses = pauses
        self._limit_at = time.monotonic() + limit.seconds  # without pauses
        self._must_warn = limit.warn_signal != 0
        self._warned_at: Optional[float] = None
        self._next_at = self._due_at
        self._again_s = _KILL_AGAIN_S

    @property
    def _due_at(self) -> float:
        """When the next step is due, without pauses."""
        return self._limit_at - self._limit.warn_s if self._must_warn else self._limit_at

    def wait(self) -> None:
        """Wait until a child may have ended, or until the next step is due, and take it.

        The caller has reaped all children that had ended before, so a command that ended in time never counts as late.
        """
        left = self._next_at - time.monotonic()
        if left > 0:
            # The signal is blocked since the agent's start, so one that arrived just before is not missed.
            signal.sigtimedwait([signal.SIGCHLD], min(left, _LONGEST_WAIT_S))
        elif self.kill_at is not None:
            self._kill()
        elif self._is_put_off():
            return
        elif self._must_warn:
            self._warn()
        else:
            self._fire()

    def _is_put_off(self) -> bool:
        """Has a pause put the limit off? While one lasts, wait: the agent sends SIGCHLD when it is over."""
        pauses, now = self._pauses(), time.monotonic()
        self._next_at = self._due_at + pauses.extension_s(now)
        left = self._next_at - now
        if pauses.stops_clock:
            self._next_at = now  # look again at once when woken
            signal.sigtimedwait([signal.SIGCHLD], max(left, _LOOK_AGAIN_S))
        return left > 0

    def _warn(self) -> None:
        """A command that is being stopped gets no other signal."""
        self._must_warn = False
        self._next_at = self._due_at + self._pauses().extension_s(time.monotonic())
        if self._stop_deadline() is not None:
            return
        members = self._tree.members()
        if self._limit.warn_main_only:
            members = {pid: start_time for pid, start_time in members.items() if pid == self._pid}
        self._tree.warn(members, self._limit.warn_signal)
        self._warned_at = time.monotonic()

    def complete(self, final: ExitedFrame) -> None:
        """Add what the report must say about the limit."""
        final["timed_out"] = self.has_fired
        if self._warned_at is None:
            return
        final["warned_s"] = time.monotonic() - self._warned_at
        number = self._limit.warn_signal
        if not self.has_fired and (final["signal"] == number or final["exit_code"] == 128 + number):
            final["by_warning"] = True

    def _fire(self) -> None:
        members = self._tree.members()  # slow among many processes, so before the last check of the command
        if _has_ended(self._pid):
            return
        self.kill_at = self._next_at = time.monotonic() + self._limit.grace_s
        stop_deadline = self._stop_deadline()
        if stop_deadline is not None:
            # It is being stopped and may be saving its work: no second signal, and no additional time.
            self.kill_at = self._next_at = min(self.kill_at, stop_deadline)
            return
        self.has_fired = True
        if self._limit.signal == signal.SIGKILL:
            self.kill_at = self._next_at = time.monotonic()
        elif self._limit.grace_s > 0:
            self._tree.send(members, self._limit.signal)

    def _kill(self) -> None:
        self._tree.kill()
        self._next_at = time.monotonic() + self._again_s
        self._again_s = min(2 * self._again_s, _KILL_AGAIN_AT_MOST_S)


def _has_ended(pid: int) -> bool:
    """Check a child without reaping it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
