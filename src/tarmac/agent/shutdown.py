"""Ends the agent: at once, or after the last requested stop is complete, because nothing else would send its SIGKILL.

A controller that says hello in the meantime cancels the shutdown.
"""

from __future__ import annotations

from typing import Callable, Optional

from tarmac.agent.loop import Loop, Timer, log

_CHECK_S = 0.1


class Shutdown:
    def __init__(self, loop: Loop, count_stops: Callable[[], int]) -> None:
        self._loop = loop
        self._count_stops = count_stops
        self._timer: Optional[Timer] = None

    def begin(self) -> int:
        """Return how many stops the agent waits for. May be repeated."""
        stops = self._count_stops()
        if stops and self._timer is None:
            log(f"asked to end; jobs still being stopped: {stops}")
        self._end_unless(stops)
        return stops

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            log("a controller is back, so the agent does not end")

    def _check(self) -> None:
        self._end_unless(self._count_stops())

    def _end_unless(self, stops: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if stops:
            # Polled, because a stop completes in many ways and only a shutdown needs to know.
            self._timer = self._loop.after(_CHECK_S, self._check, "shutdown")
        else:
            self._loop.stop()
