"""Whether an agent answers, and since when it does not: people must not take old readings for new ones.

An agent is asked only when a request shows its readings, and the request waits for a moment only. So an idle machine
stays asleep.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER_WITHIN_S = 0.7  # a loaded machine may be slow


class Liveness:
    """`ask` sends a question that any living agent answers at once."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._heard_at = monotonic()
        self._asked_at: float | None = None  # the first question since it was heard of
        self._is_silent = False  # that question was not answered in time
        self._heard = asyncio.Event()

    def heard(self) -> None:
        """Called for everything that arrives."""
        self._heard_at = monotonic()
        if self._asked_at is not None:
            self._asked_at, self._is_silent = None, False
            self._heard.set()

    @property
    def silent_s(self) -> float | None:
        """How long ago it was heard of, if it does not answer."""
        return monotonic() - self._heard_at if self._is_silent else None

    async def check(self, within_s: float = ANSWER_WITHIN_S) -> None:
        """Make sure that `silent_s` is true now. Returns at once for an agent that has been silent for that long."""
        if self._asked_at is None:
            self._asked_at = monotonic()
            self._heard.clear()
            self._ask()
        try:
            async with asyncio.timeout(self._asked_at + within_s - monotonic()):
                await self._heard.wait()
        except TimeoutError:
            self._is_silent = self._asked_at is not None
