"""The time limit of an attempt whose shim was killed: the agent enforces it in its place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from tarmac.agent.loop import Timer
    from tarmac.agent.records.run_folder import Record
    from tarmac.agent.run.attempt import Attempt


class LateLimit:
    def __init__(self, attempt: Attempt, limit: Record) -> None:
        self._attempt = attempt
        self._limit = limit  # of the start record
        self._timer: Optional[Timer] = None
        self.check()

    def check(self) -> None:
        """Stop the attempt if the limit is reached, otherwise look again then. Call again after a pause."""
        if self._timer is not None:
            self._timer.cancel()
        pauses, now = self._attempt.pause.pauses, time.monotonic()
        left_s = self._limit["until"] + pauses.extension_s(now) - now
        if self._attempt.is_over or self._attempt.escalation.is_requested or pauses.stops_clock:
            return
        if left_s > 0:
            self._timer = self._attempt.host.loop.after(left_s, self.check, self._attempt.name)
        else:
            self._attempt.escalation.request(self._limit["signal"], self._limit["grace_s"])
