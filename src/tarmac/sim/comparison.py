"""Runs one trace under several policies, on the same machines."""

from __future__ import annotations

import gc
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from tarmac.core.model.names import Policy
from tarmac.core.model.rules import Rules
from tarmac.sim.figures import Figures, Waits, figures_of
from tarmac.sim.world import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.sim.machines import Machine
    from tarmac.sim.outcome import Outcome
    from tarmac.sim.trace import TraceJob

ALL_POLICIES: tuple[Policy, ...] = get_args(Policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    policy: Policy
    is_backfilling: bool
    figures: Figures
    outcome: Outcome

    @property
    def label(self) -> str:
        return label_of(self.policy, is_backfilling=self.is_backfilling)


def label_of(policy: str, *, is_backfilling: bool) -> str:
    return policy if is_backfilling else f"{policy}, no backfill"


def played(trace: Sequence[TraceJob], machines: Sequence[Machine], policy: Policy, *, is_backfilling: bool) -> Scenario:
    """Failures never pause a simulated queue, because nobody could resume it."""
    rules = Rules(policy=policy, is_backfilling=is_backfilling, pause_after_failures=0)
    was_collecting = gc.isenabled()
    gc.disable()  # there are no reference cycles, and scanning 100,000 jobs for them is slow
    try:
        outcome = simulate(trace, machines, rules)
    finally:
        if was_collecting:
            gc.enable()
    return Scenario(policy=policy, is_backfilling=is_backfilling, figures=figures_of(outcome), outcome=outcome)


def as_data(scenario: Scenario) -> dict[str, Any]:
    """All figures for `--json`; seconds and fractions as numbers."""
    figures = scenario.figures
    return {
        "policy": scenario.policy,
        "backfill": scenario.is_backfilling,
        "utilization": _rounded(figures.utilization),
        "fairness": _rounded(figures.fairness),
        "makespan_s": _rounded(figures.makespan_s),
        "preemptions": figures.preemptions,
        "timeouts": figures.timeouts,
        "refused": figures.refused,
        "unstarted": figures.unstarted,
        "wait": _waits(figures.waits),
        "wait_by_gpus": [{"gpus": gpus, **_waits(waits)} for gpus, waits in figures.by_gpus],
        "wait_by_owner": [
            {"owner": owner, **_waits(waits), "part_of_share": _rounded(figures.parts_of_share.get(owner))}
            for owner, waits in figures.by_owner
        ],
    }


def _waits(waits: Waits) -> dict[str, Any]:
    return {name: value if name == "jobs" else _rounded(value) for name, value in asdict(waits).items()}


def _rounded(value: float | None) -> float | None:
    """Drop the last digits, which are rounding noise."""
    return None if value is None else round(value, 6)
