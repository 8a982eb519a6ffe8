"""Starts that lack descriptors, memory or processes: tried again every second for a minute, then refused.

The shortage usually ends with another job. A start that waits has left no trace, so a new connection of the controller
decides anew about it.
"""

from __future__ import annotations

import time
from typing import Callable, Dict

from tarmac.agent.loop import Loop, Timer, log
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.run.handoff import Start
from tarmac.shared.system.shortage import is_shortage_at_fork

_AGAIN_S = 1.0
_FOR_S = 60.0


class StartRetries:
    def __init__(
        self,
        loop: Loop,
        launch: Callable[[AttemptKey, Start], None],
        refuse: Callable[[AttemptKey, str], None],
    ) -> None:
        self._loop = loop
        self._launch = launch
        self._refuse = refuse
        self._timers: Dict[AttemptKey, Timer] = {}
        self._until: Dict[AttemptKey, float] = {}

    def has(self, key: AttemptKey) -> bool:
        """True if it waits, or is being tried again."""
        return key in self._until

    def failed(self, key: AttemptKey, start: Start, error: OSError) -> None:
        """Try again or refuse."""
        reason = f"cannot be started: {error.strerror or error}"
        # The run directory of the last try may still be there.
        is_own = isinstance(error, FileExistsError) and self.has(key)
        if not ((is_own or is_shortage_at_fork(error)) and self._add(key, start, reason)):
            self.drop(key)
            self._refuse(key, reason)

    def stop(self, key: AttemptKey) -> None:
        if self.has(key):
            self.drop(key)
            self._refuse(key, "stopped before it started")

    def _add(self, key: AttemptKey, start: Start, reason: str) -> bool:
        """False if it was tried for long enough."""
        if key not in self._until:
            log(f"job {key}: {reason}; trying again for {_FOR_S:.0f} s")
        until = self._until.setdefault(key, time.monotonic() + _FOR_S)
        if time.monotonic() >= until:
            return False
        self._timers[key] = self._loop.after(_AGAIN_S, lambda: self._try(key, start), f"job {key}")
        return True

    def drop(self, key: AttemptKey) -> None:
        """It has started, or must not start."""
        self._until.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def drop_all(self) -> None:
        for key in list(self._until):
            self.drop(key)

    def _try(self, key: AttemptKey, start: Start) -> None:
        self._timers.pop(key, None)
        self._launch(key, start)
