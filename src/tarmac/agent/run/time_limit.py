"""A time limit as the shim keeps it, alone: it holds while agent and controller are dead.

It counts on the monotonic clock from the release of the command. Setting the date does not move it, and the time a
machine spends suspended does not count: the command did not run either.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Callable, Optional

from tarmac.agent.procs import containment
from tarmac.agent.procs.containment import Containment
from tarmac.agent.run.start_request import Limit

_LONGEST_WAIT_S = 3600.0
_KILL_AGAIN_S = 0.2
_KILL_AGAIN_AT_MOST_S = 5.0  # what SIGKILL does not end hangs in the kernel, and looking for it costs


class Countdown:
    """At the limit a signal to the whole tree, after the grace SIGKILL to what is left, again until nothing is."""

    def __init__(
        self, limit: Limit, pid: int, tree: Containment, *, stop_deadline: Callable[[], Optional[float]]
    ) -> None:
        self.has_struck = False  # the signal was sent, and before the command had ended
        self.kill_at: Optional[float] = None  # set once the limit is reached
        self._limit = limit
        self._pid = pid
        self._tree = tree
        self._stop_deadline = stop_deadline
        self._next_at = time.monotonic() + limit.seconds
        self._again_s = _KILL_AGAIN_S

    def wait(self) -> None:
        """Until a child may have ended or the next step is due, which is taken then. The caller has reaped all that had
        ended before, so a command that was done in time is never taken for one that was not."""
        left = self._next_at - time.monotonic()
        if left > 0:
            # Blocked since the agent's start, so one that came just before is not missed.
            signal.sigtimedwait([signal.SIGCHLD], min(left, _LONGEST_WAIT_S))
        elif self.kill_at is None:
            self._strike()
        else:
            self._kill()

    def _strike(self) -> None:
        members = self._tree.members()  # takes a while among many processes: before the last look at the command
        if _has_ended(self._pid):
            return
        self.kill_at = self._next_at = time.monotonic() + self._limit.grace_s
        asked = self._stop_deadline()
        if asked is not None:
            # It was told to end before, and may be saving its work: no second signal, and no more time either.
            self.kill_at = self._next_at = min(self.kill_at, asked)
            return
        self.has_struck = True
        if self._limit.signal == signal.SIGKILL:
            self.kill_at = self._next_at = time.monotonic()
        elif self._limit.grace_s > 0:
            containment.send(members, self._limit.signal)

    def _kill(self) -> None:
        self._tree.kill()
        self._next_at = time.monotonic() + self._again_s
        self._again_s = min(2 * self._again_s, _KILL_AGAIN_AT_MOST_S)


def _has_ended(pid: int) -> bool:
    """A child, which stays to be reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
