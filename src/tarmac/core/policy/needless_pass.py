"""Submits that need no pass: no waiting job fits anywhere, and the new jobs change nobody's turn.

In an overloaded cluster most submits are of this kind. A pass would plan the start of the same job on the same GPUs as
the one before. It would start nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.events import JobsSubmitted
from tarmac.core.policy.order.starvation import is_overdue, starved_jobs
from tarmac.core.policy.plans.candidates import is_full

if TYPE_CHECKING:
    from tarmac.core.events import Event
    from tarmac.core.queue.queue import Turn
    from tarmac.core.state import State


def turns_before(state: State, event: Event) -> dict[str, Turn] | None:
    """Ask before the event is applied: the turns of the owners who submit. None: a pass is needed in any case."""
    if state.full_pass is None or not isinstance(event, JobsSubmitted):
        return None
    owners = {spec.owner for spec in event.specs}
    if not owners <= state.queue.owners.keys() or any(spec.after for spec in event.specs):
        return None
    return {owner: state.queue.owners[owner].turn() for owner in owners}


def is_needless(state: State, before: dict[str, Turn], now: float) -> bool:
    """True if another pass would decide the same. Rules out each possible difference."""
    full, cache = state.full_pass, state.fit_cache
    if full is None or now < state.pass_at or state.stopping or state.owed or state.reservations:
        return False
    if full.read != cache.touched.position or cache.starts.has_run_out(now):  # a node or an expectation changed
        return False
    if any(state.queue.owners[owner].turn() != turn for owner, turn in before.items()):
        return False
    if is_overdue(state, state.jobs[full.job], now) != full.is_overdue or starved_jobs(state, now):
        return False
    return is_full(state)
