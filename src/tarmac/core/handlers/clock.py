"""The wall clock was set: elapsed times must not follow it.

Moments that people name (begin times, reservations) stay. What measures elapsed time moves along with the clock. All of
it is in memory alone, so nothing is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarmac.core.state import State


def set_clock(state: State, by_s: float) -> None:
    for moments in (state.runtimes.began, state.runtimes.ends_by_progress):
        for job in moments:
            moments[job] += by_s
    for waiting in state.stuck_since:
        state.stuck_since[waiting] += by_s
    state.replan_at += by_s
    state.ledger.shift(by_s)
    state.fit_cache.clear()  # it holds expected ends
