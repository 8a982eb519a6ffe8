"""Runs one trace under several policies, on the same machines, and compares each with plain FIFO."""

from __future__ import annotations

import gc
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, get_args

from tarmac.core.model.names import Order, Policy
from tarmac.core.model.rules import Rules
from tarmac.records import dataclass
from tarmac.shared.units import HOUR_S
from tarmac.sim.figures import figures_of, of_all, of_owner, of_size
from tarmac.sim.limits import with_limits
from tarmac.sim.world import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tarmac.sim.figures import Figures, Group
    from tarmac.sim.limits import Limits
    from tarmac.sim.machines import Machine
    from tarmac.sim.outcome import Outcome
    from tarmac.sim.past import PastRun
    from tarmac.sim.trace import TraceJob

ALL_POLICIES: tuple[Policy, ...] = get_args(Policy)
DEFAULT_ORDER: tuple[Order] = ("submitted",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to run a trace."""

    policy: Policy
    is_backfilling: bool = True
    order: Order = "submitted"
    limits: Limits = "as-given"

    @property
    def label(self) -> str:
        backfill = "" if self.is_backfilling else ", no backfill"
        limits = {"as-given": "", "none": ", no limits", "x2": ", limits x2"}[self.limits]
        order = "" if self.order == "submitted" else f", order {self.order}"
        return f"{self.policy}{backfill}{order}{limits}"

    @property
    def plain(self) -> Variant:
        """Plain FIFO, which every variant is compared with."""
        return Variant(policy="fifo", is_backfilling=False, limits=self.limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    variant: Variant
    figures: Figures
    outcome: Outcome
    plain: Figures | None = None  # of plain FIFO on the same trace

    @property
    def label(self) -> str:
        return self.variant.label

    def relative_wait(self, group: Group) -> float | None:
        """The mean wait of these jobs as a multiple of what it is under plain FIFO; None if that is zero."""
        return None if self.plain is None else group(self.figures).relative_to(group(self.plain))


def compare(
    trace: Sequence[TraceJob],
    machines: Sequence[Machine],
    variants: Iterable[Variant],
    notify: Callable[[str], None] = lambda _: None,
    past: Sequence[PastRun] = (),
) -> list[Scenario]:
    """Run each variant, and plain FIFO once for each kind of limits. `notify` is called with what runs next."""
    done: dict[Variant, Scenario] = {}

    def run(variant: Variant, label: str) -> Scenario:
        if variant not in done:
            notify(label)
            limited = with_limits(trace, variant.limits)
            done[variant] = played(limited, machines, variant, past)
        return done[variant]

    return [
        replace(
            run(variant, variant.label), plain=run(variant.plain, f"{variant.plain.label}, to compare with").figures
        )
        for variant in variants
    ]


def played(
    trace: Sequence[TraceJob], machines: Sequence[Machine], variant: Variant, past: Sequence[PastRun] = ()
) -> Scenario:
    """Failures never pause a simulated queue, because nobody could resume it."""
    rules = Rules(
        policy=variant.policy,
        order=variant.order,
        is_backfilling=variant.is_backfilling,
        suspend_after_failures=0,
        drain_node_after_failures=0,
    )
    was_collecting = gc.isenabled()
    gc.disable()  # nothing makes reference cycles, and scanning 100,000 jobs for them is slow
    try:
        outcome = simulate(trace, machines, rules, past)
    finally:
        if was_collecting:
            gc.enable()
    return Scenario(variant=variant, figures=figures_of(outcome), outcome=outcome)


def as_data(scenario: Scenario) -> dict[str, Any]:
    """All figures for `--json`; seconds, GPU-hours and fractions as numbers."""
    figures = scenario.figures
    return {
        "policy": scenario.variant.policy,
        "backfill": scenario.variant.is_backfilling,
        "order": scenario.variant.order,
        "limits": scenario.variant.limits,
        "utilization": _rounded(figures.utilization),
        "idle_while_waiting": _rounded(figures.idle_part),
        "idle_while_waiting_gpu_hours": _rounded(figures.sharing.idle / HOUR_S),
        "shortfall": _rounded(figures.short_part),
        "shortfall_gpu_hours": _rounded(figures.sharing.short / HOUR_S),
        "fairness": _rounded(figures.fairness),
        "makespan_s": _rounded(figures.makespan_s),
        "preemptions": figures.preemptions,
        "timeouts": figures.timeouts,
        "refused": figures.refused,
        "unstarted": figures.unstarted,
        "wait": _waits(scenario, of_all),
        "wait_by_gpus": [{"gpus": gpus, **_waits(scenario, of_size(gpus))} for gpus in figures.by_gpus],
        "wait_by_owner": [
            {"owner": owner, **_waits(scenario, of_owner(owner)), **_share(figures, owner)}
            for owner in figures.by_owner
        ],
    }


def _waits(scenario: Scenario, group: Group) -> dict[str, Any]:
    waits = asdict(group(scenario.figures))
    data = {name: value if name == "jobs" else _rounded(value) for name, value in waits.items()}
    return {**data, "vs_plain_fifo": _rounded(scenario.relative_wait(group))}


def _share(figures: Figures, owner: str) -> dict[str, Any]:
    """Null for an owner who wanted no GPUs."""
    share = figures.sharing.by_owner.get(owner)
    return {
        "part_of_share": None if share is None else _rounded(share.part),
        "shortfall_gpu_hours": None if share is None else _rounded(share.short / HOUR_S),
    }


def _rounded(value: float | None) -> float | None:
    """Drop the last digits, which are rounding noise."""
    return None if value is None else round(value, 6)
