"""When the next timed change is due; the controller sleeps until then."""

from __future__ import annotations

from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.limits import has_hour_limits
from tarmac.core.policy.order.starvation import MAX_STARVED, least_patience_s, patience_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.state import State

HOURS_AGAIN_S = 60.0  # how often to check whether GPU-hours of the week have expired


def next_due(state: State, now: float) -> float | None:
    """The next moment after now, or None."""
    moments = [moment for moment in _moments(state, now) if now < moment < inf]
    return min(moments, default=None)


def _moments(state: State, now: float) -> Iterator[float]:
    if state.timers:
        yield max(state.timers[0][0], now + 1e-3)
    for one in state.reservations.values():
        yield from (one.begins_at, one.ends_at)
        if not one.is_used:
            yield one.begins_at + state.rules.no_show_s
    if state.queue.owners:
        yield state.replan_at
    if state.stuck_since:
        least_s, most_s = least_patience_s(state), patience_s(state)
        for since in islice(state.stuck_since.values(), MAX_STARVED):
            yield since + least_s
            yield since + most_s
    if state.queue.owners and has_hour_limits(state):
        yield now + HOURS_AGAIN_S
