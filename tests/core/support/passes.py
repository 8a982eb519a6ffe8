"""One scheduling pass, decision by decision, with a look at the plans after each."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from tarmac.core.handlers.attempts import stopping
from tarmac.core.model.status import Starting
from tarmac.core.policy.plans.planned_start import planned_starts, starts_on_preempted_gpus
from tarmac.core.policy.scheduling_pass import Pass, Start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.policy.scheduling_pass import Decision
    from tarmac.core.state import State


def decided_one_by_one(state: State, now: float, turn: Pass) -> Iterator[Decision]:
    """Apply each decision of a pass before the next is made."""
    for decision in turn.run():
        if isinstance(decision, Start):
            decision.job.attempt += 1
            state.enter(decision.job, Starting(booking=decision.booking, decided_at=now))
        else:
            stopping.preempt(state, decision.job, decision.for_job.id, now)
        yield decision


def planned_anew(state: State, now: float, plans: list[PlannedStart]) -> list[PlannedStart | None]:
    """The same plans in the same order, computed again. Those on preempted GPUs stay, as the first."""
    on_preempted = {planned.job: planned for planned in starts_on_preempted_gpus(state, now)}
    nodes: set[NodeName] = {planned.node for planned in on_preempted.values()}
    found: list[PlannedStart | None] = []
    for number, together in groupby(plans, key=lambda planned: planned.job):
        old = list(together)
        kept = on_preempted.get(number)
        new = planned_starts(state, state.jobs[number], now, nodes) if kept is None else [kept]
        found += new or [None] * len(old)
        nodes.update(planned.node for planned in new or old)
    return found
