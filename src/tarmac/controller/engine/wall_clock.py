"""The wall clock may be set, and runs on while the machine is suspended. This notices both.

Begin times and reservations are moments of the wall clock. Timers of the event loop count monotonic time, so they
would be late after the clock was set forward or the machine was suspended.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
import weakref
from typing import TYPE_CHECKING

from tarmac.shared.system import boot_clock, kernel

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_STEP_S = 0.5  # smaller differences add up until they are a step
SLOW_LOOK_S = 0.05  # between reading two clocks, this process was interrupted


class WallTimer:
    """Calls `fire` at a moment of the wall clock, and whenever the clock is set or the machine resumes."""

    def __init__(self, fire: Callable[[], None]) -> None:
        self._fire = fire
        self._descriptor = kernel.wall_timer()
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        weakref.finalize(self, os.close, self._descriptor)  # the loop keeps the timer as long as it reads it

    def set(self, seconds: float) -> None:
        """Fire once, after this long by the wall clock."""
        kernel.set_wall_timer(self._descriptor, time.time() + seconds)

    def _read(self) -> None:
        try:
            os.read(self._descriptor, 8)
        except BlockingIOError:
            return  # it was set again in the meantime
        except OSError as error:
            if error.errno != errno.ECANCELED:
                raise
        self._fire()


class ClockSteps:
    """How far the wall clock was set, by comparison with the boot clock, which cannot be set and counts suspends."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lead_s = self._look()

    def take(self) -> float:
        """The seconds it was set forward, or back, since the last call; 0.0 if it was not."""
        lead_s = self._look()
        step_s = lead_s - self._lead_s
        if abs(step_s) < LEAST_STEP_S:
            return 0.0
        self._lead_s = lead_s
        return step_s

    def _look(self) -> float:
        while True:
            before = boot_clock.seconds()
            lead_s = self._clock() - before
            if boot_clock.seconds() - before < SLOW_LOOK_S:
                return lead_s
