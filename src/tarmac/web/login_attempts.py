"""Slows down wrong log-ins: each one from the same address is answered later than the one before it.

A right log-in is never delayed, so that nobody can lock a user out by failing on purpose.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from tarmac.records import dataclass
from tarmac.refusal import unavailable

FREE_ATTEMPTS = 3  # a person may paste an old link
FIRST_DELAY_S, LONGEST_DELAY_S = 0.25, 8.0
FORGET_AFTER_S = 600.0
MOST_WAITING = 20  # answers that are delayed at a time, of one address
MOST_ADDRESSES = 1000


@dataclass(slots=True)
class _Failures:
    count: int = 0
    last_at: float = 0.0
    waiting: int = 0


class LoginAttempts:
    def __init__(self) -> None:
        self._failures: dict[str, _Failures] = {}  # by address, the one that failed last at the end

    async def failed(self, address: str) -> None:
        """Return when the failure may be answered. Refuse more attempts of an address whose answers are delayed."""
        failures = self._note(address)
        if failures.waiting >= MOST_WAITING:
            raise unavailable("page.too_many_attempts")
        failures.waiting += 1
        try:
            await asyncio.sleep(_delay_s(failures.count))
        finally:
            failures.waiting -= 1

    def _note(self, address: str) -> _Failures:
        now = monotonic()
        failures = self._failures.pop(address, None) or _Failures()
        if now - failures.last_at > FORGET_AFTER_S:
            failures.count = 0
        failures.count += 1
        failures.last_at = now
        self._failures[address] = failures
        if len(self._failures) > MOST_ADDRESSES:
            del self._failures[next(iter(self._failures))]
        return failures


def _delay_s(failures: int) -> float:
    counted = failures - FREE_ATTEMPTS
    return 0.0 if counted <= 0 else min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(counted - 1, 30))
