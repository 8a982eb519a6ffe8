"""When to retry a GPU that hung: soon at first, then less often, because a retry may hang a process for good."""

from __future__ import annotations

import os
import time
from typing import Callable, Dict, Hashable

_FIRST_S = 5.0
_LONGEST_S = 60.0


class Backoff:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._longest_s = float(os.environ.get("TARMAC_GPU_AGAIN_S", _LONGEST_S))
        self._next_s: Dict[Hashable, float] = {}
        self._answered_at: Dict[Hashable, float] = {}

    def next_s(self, spot: Hashable) -> float:
        """5, 10, 20, 40, 60, 60 …"""
        if self._clock() - self._answered_at.pop(spot, self._clock()) >= self._longest_s:
            self.reset(spot)
        now_s = self._next_s.get(spot, _FIRST_S)
        self._next_s[spot] = min(2 * now_s, self._longest_s)
        return min(now_s, self._longest_s)

    def answered(self, spot: Hashable) -> None:
        """A GPU that hangs again soon after continues where it was: each hang costs the other GPUs some seconds."""
        self._answered_at[spot] = self._clock()

    def reset(self, spot: Hashable) -> None:
        self._next_s.pop(spot, None)
