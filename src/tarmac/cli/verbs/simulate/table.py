"""Tables that compare policies: one row each, for all jobs and for each group of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import counted
from tarmac.shared.units import short_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.sim.comparison import Scenario
    from tarmac.sim.figures import Waits
    from tarmac.sim.machines import Machine
    from tarmac.sim.trace import TraceJob

MOST_ROWS = 5  # groups by owner, and by number of GPUs; --json has all


def title_of(trace: Sequence[TraceJob], machines: Sequence[Machine]) -> str:
    owners = len({job.owner for job in trace})
    gpus = sum(machine.gpu_count for machine in machines)
    work = f"{counted(len(trace), 'job')} of {counted(owners, 'owner')}"
    return f"{work} on {counted(len(machines), 'node')} with {counted(gpus, 'GPU')}"


def tables(scenarios: Sequence[Scenario], width: int | None) -> list[str]:
    return [*_figures(scenarios, width), "", *_waits(scenarios, width), *_left_out(scenarios)]


def _figures(scenarios: Sequence[Scenario], width: int | None) -> list[str]:
    """Omits columns that are zero under every policy."""
    figures = [scenario.figures for scenario in scenarios]
    columns = [
        Column("POLICY", [scenario.label for scenario in scenarios]),
        Column("IN USE", [f"{one.utilization:.1%}" for one in figures], is_right=True),
        Column("FAIRNESS", [f"{one.fairness:.3f}" for one in figures], is_right=True),
        Column("MAKESPAN", [short_duration(one.makespan_s) for one in figures], is_right=True),
    ]
    counts = {
        "PREEMPTED": [one.preemptions for one in figures],
        "TIMEOUT": [one.timeouts for one in figures],
        "REFUSED": [one.refused for one in figures],
        "UNSTARTED": [one.unstarted for one in figures],
    }
    for title, numbers in counts.items():
        if any(numbers):
            columns.append(Column(title, [f"{number:,}" for number in numbers], is_right=True))
    return lines(columns, width)


def _waits(scenarios: Sequence[Scenario], width: int | None) -> list[str]:
    rows = list(_rows(scenarios))
    columns = [
        Column("WAITED", [group for group, _, _ in rows], least=8),
        Column("JOBS", [f"{waits.jobs:,}" for _, _, waits in rows], is_right=True),
        Column("POLICY", [label for _, label, _ in rows]),
    ]
    for name in ("mean", "median", "p95", "p99"):
        values = [short_duration(getattr(waits, f"{name}_s")) for _, _, waits in rows]
        columns.append(Column(name.upper(), values, is_right=True))
    return lines(columns, width)


def _rows(scenarios: Sequence[Scenario]) -> Iterator[tuple[str, str, Waits]]:
    """Rows by group, so that the policies of a group are adjacent."""
    for index, scenario in enumerate(scenarios):
        yield "" if index else "all jobs", scenario.label, scenario.figures.waits
    first = scenarios[0].figures
    most = sorted(first.by_gpus, key=lambda group: -group[1].jobs)[:MOST_ROWS]
    for gpus, _ in sorted(most):
        for index, scenario in enumerate(scenarios):
            waits = dict(scenario.figures.by_gpus)[gpus]
            yield "" if index else counted(gpus, "GPU"), scenario.label, waits
    for owner, _ in first.by_owner[:MOST_ROWS]:
        for index, scenario in enumerate(scenarios):
            waits = dict(scenario.figures.by_owner)[owner]
            yield "" if index else f"by {owner}", scenario.label, waits


def _left_out(scenarios: Sequence[Scenario]) -> list[str]:
    figures = scenarios[0].figures
    owners, kinds = len(figures.by_owner) - MOST_ROWS, len(figures.by_gpus) - MOST_ROWS
    more = [counted(owners, "more owner")] if owners > 0 else []
    more += [counted(kinds, "more number") + " of GPUs"] if kinds > 0 else []
    return [f"and {' and '.join(more)}: --json has all"] if more else []
