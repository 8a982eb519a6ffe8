"""A timer that is set to the soonest of the times asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SoonestTimer:
    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        return self._handle is not None

    def after(self, seconds: float) -> None:
        """Call after this time, or earlier if that was asked for."""
        loop = asyncio.get_running_loop()
        if self._handle is not None:
            if self._handle.when() <= loop.time() + seconds:
                return
            self._handle.cancel()
        self._handle = loop.call_later(seconds, self._fire)

    def _fire(self) -> None:
        self._handle = None
        self._call()
