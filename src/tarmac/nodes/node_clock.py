"""Times of a node by the controller's clock: the wall clocks of two machines differ, and each can be set at any time.

A node reports when something happened on its boot clock, which nobody can set. Its hello relates that clock to ours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tarmac.shared.system import boot_clock

if TYPE_CHECKING:
    from collections.abc import Callable

_STEP_S = 0.05  # less is the jitter of reading two clocks, not a clock that was set


class NodeClock:
    def __init__(
        self, wall_clock: Callable[[], float] = time.time, own_clock: Callable[[], float] = boot_clock.seconds
    ) -> None:
        self._wall_clock = wall_clock
        self._own_clock = own_clock
        self._ahead_s: float | None = None  # our boot clock, of the node's
        self._wall_ahead_s = 0.0  # our wall clock, of the node's
        self._booted_at = 0.0  # our boot, by our wall clock

    def relate(self, boot_s: float | None, at: float | None, *, is_same_boot: bool = False) -> None:
        """Take what the node's clocks show now. An older agent does not say. On our own machine they are ours."""
        if is_same_boot:
            self._ahead_s, self._wall_ahead_s = 0.0, 0.0  # the hello may have waited before it was read
            return
        self._ahead_s = None if boot_s is None else self._own_clock() - boot_s
        self._wall_ahead_s = 0.0 if at is None else self._wall_clock() - at

    def convert(self, at: float, boot_s: float | None) -> float:
        """Return a moment of the node by our wall clock as it is set now. Without `boot_s`, by its wall clock alone."""
        if boot_s is None or self._ahead_s is None:
            return at + self._wall_ahead_s
        return self.booted_at() + min(boot_s + self._ahead_s, self._own_clock())

    def booted_at(self) -> float:
        """When our machine booted, by our wall clock: it changes only if the clock is set.

        So the same moment always gives the same time, although reading two clocks takes a varying while.
        """
        booted_at = self._wall_clock() - self._own_clock()
        if abs(booted_at - self._booted_at) > _STEP_S:
            self._booted_at = booted_at
        return self._booted_at
