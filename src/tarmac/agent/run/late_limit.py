"""The time limit of an attempt whose shim was killed: the agent enforces it in its place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from tarmac.agent.loop import Timer
    from tarmac.agent.records.run_folder import Record
    from tarmac.agent.run.attempt import Attempt


def is_warned(limit: Record, now: float, extension_s: float) -> bool:
    """True once it is time to warn of a limit. Start records of older agents have no warning."""
    return bool(limit.get("warn_signal")) and now >= limit["until"] - limit["warn_s"] + extension_s


class LateLimit:
    def __init__(self, attempt: Attempt, limit: Record) -> None:
        self._attempt = attempt
        self._limit = limit  # of the start record
        self._must_warn = bool(limit.get("warn_signal")) and not self._is_warned()  # the shim may have done so
        self._timer: Optional[Timer] = None
        self.check()

    def check(self) -> None:
        """Warn or stop the attempt if it is time to, otherwise look again then. Call again after a pause."""
        if self._timer is not None:
            self._timer.cancel()
        pauses, now = self._attempt.pause.pauses, time.monotonic()
        if self._attempt.is_over or self._attempt.escalation.is_requested or pauses.stops_clock:
            return
        if self._must_warn and self._is_warned():
            self._must_warn = False
            self._attempt.escalation.warn(self._limit["warn_signal"], main_only=self._limit["warn_main_only"])
        before_s = self._limit["warn_s"] if self._must_warn else 0.0
        left_s = self._limit["until"] - before_s + pauses.extension_s(now) - now
        if left_s > 0:
            self._timer = self._attempt.host.loop.after(left_s, self.check, self._attempt.name)
        else:
            self._attempt.escalation.request(self._limit["signal"], self._limit["grace_s"])

    def _is_warned(self) -> bool:
        now = time.monotonic()
        return is_warned(self._limit, now, self._attempt.pause.pauses.extension_s(now))
