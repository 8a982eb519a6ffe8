"""The size of the next piece of a file on a link: large enough to be quick, small enough not to delay other frames.

One piece is under way at a time. A start, a signal or a line of a log waits for at most that one.
"""

from __future__ import annotations

LEAST_BYTES, MOST_BYTES = 16 << 10, 512 << 10  # the first piece is small: it shows how long the way is
QUICK_S, SLOW_S = 0.05, 0.2  # over what the smallest piece takes: the way there and back


class Pace:
    def __init__(self) -> None:
        self.bytes = LEAST_BYTES
        self._least_s: float | None = None

    def took(self, seconds: float) -> None:
        """A piece of this size was answered after that time."""
        self._least_s = seconds if self._least_s is None else min(self._least_s, seconds)
        over_s = seconds - self._least_s
        if over_s < QUICK_S:
            self.bytes = min(2 * self.bytes, MOST_BYTES)
        elif over_s > SLOW_S:
            self.bytes = max(self.bytes // 2, LEAST_BYTES)
