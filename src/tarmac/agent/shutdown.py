"""The agent's end: at once, or, while stops it was asked for are not carried out, as soon as the last of them is.

Nobody else would send the SIGKILL that was promised. A controller that says hello meanwhile takes the end back.
"""

from __future__ import annotations

from typing import Callable, Optional

from tarmac.agent.loop import Loop, Timer, log

_LOOK_AGAIN_S = 0.1


class Ending:
    def __init__(self, loop: Loop, count_stops: Callable[[], int]) -> None:
        self._loop = loop
        self._count_stops = count_stops
        self._timer: Optional[Timer] = None

    def begin(self) -> int:
        """How many stops it waits for. Repeating it is harmless."""
        stops = self._count_stops()
        if stops and self._timer is None:
            log(f"told to end; jobs that are still being stopped: {stops}")
        self._go_on(stops)
        return stops

    def take_back(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            log("a controller is back, so the agent does not end")

    def _look(self) -> None:
        self._go_on(self._count_stops())

    def _go_on(self, stops: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if stops:
            # Looked at and not told: a stop is over in many ways, and this is the one moment that asks for it.
            self._timer = self._loop.after(_LOOK_AGAIN_S, self._look, "ending")
        else:
            self._loop.stop()
