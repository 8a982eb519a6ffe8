"""Tables that compare policies: one row each, for all jobs and for each group of jobs."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import counted
from tarmac.shared.units import short_duration
from tarmac.sim.figures import of_all, of_owner, of_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.sim.comparison import Scenario
    from tarmac.sim.figures import Group, Waits
    from tarmac.sim.machines import Machine
    from tarmac.sim.trace import TraceJob

MOST_ROWS = 5  # groups by owner, and by number of GPUs; --json has all
# Columns that a narrow terminal has no room for, the first one first.
FIGURES_GIVE_WAY = ("MAKESPAN", "FAIRNESS", "PREEMPTED")
WAITS_GIVE_WAY = ("P99", "MEDIAN", "JOBS", "P95", "SLOWDOWN")


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
        *_variants(scenarios),
        Column("IN USE", [f"{one.utilization:.1%}" for one in figures], is_right=True),
        Column("IDLE", [f"{one.idle_part:.1%}" for one in figures], is_right=True),
        Column("SHORT", [f"{one.short_part:.1%}" for one in figures], is_right=True),
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
    return lines(columns, width, give_way=FIGURES_GIVE_WAY)


def _variants(rows: Sequence[Scenario]) -> list[Column]:
    """What distinguishes the rows, or is not the default."""
    variants = [row.variant for row in rows]
    others: dict[str, tuple[str, list[str]]] = {  # title -> the default, and the values
        "BACKFILL": ("yes", ["yes" if variant.is_backfilling else "no" for variant in variants]),
        "ORDER": ("submitted", [str(variant.order) for variant in variants]),
        "LIMITS": ("as-given", [str(variant.limits) for variant in variants]),
    }
    columns = [Column("POLICY", [variant.policy for variant in variants])]
    return columns + [Column(title, values) for title, (usual, values) in others.items() if set(values) != {usual}]


def _waits(scenarios: Sequence[Scenario], width: int | None) -> list[str]:
    rows = list(_rows(scenarios))
    waits = [row.waits for row in rows]
    columns = [
        Column("WAITED", [row.group for row in rows], least=8),
        Column("JOBS", [f"{one.jobs:,}" for one in waits], is_right=True),
        *_variants([row.scenario for row in rows]),
        Column("MEAN", [short_duration(one.mean_s) for one in waits], is_right=True),
        Column("VS FIFO", [_times(row.relative) for row in rows], is_right=True),
        Column("MEDIAN", [short_duration(one.median_s) for one in waits], is_right=True),
        Column("P95", [short_duration(one.p95_s) for one in waits], is_right=True),
        Column("P99", [short_duration(one.p99_s) for one in waits], is_right=True),
        Column("SLOWDOWN", [_digits(one.mean_slowdown) for one in waits], is_right=True),
    ]
    return lines(columns, width, give_way=WAITS_GIVE_WAY)


class Row(NamedTuple):
    group: str  # empty below the first row of a group
    scenario: Scenario
    waits: Waits
    relative: float | None  # to plain FIFO


def _rows(scenarios: Sequence[Scenario]) -> Iterator[Row]:
    """Rows by group, so that the policies of a group are adjacent."""
    first = scenarios[0].figures
    most = sorted(first.by_gpus, key=lambda gpus: -first.by_gpus[gpus].jobs)[:MOST_ROWS]
    yield from _group("all jobs", scenarios, of_all)
    for gpus in sorted(most):
        yield from _group(counted(gpus, "GPU"), scenarios, of_size(gpus))
    for owner in islice(first.by_owner, MOST_ROWS):
        yield from _group(f"by {owner}", scenarios, of_owner(owner))


def _group(name: str, scenarios: Sequence[Scenario], waits: Group) -> Iterator[Row]:
    for index, scenario in enumerate(scenarios):
        relative = scenario.relative_wait(waits)
        yield Row("" if index else name, scenario, waits(scenario.figures), relative)


def _times(number: float | None) -> str:
    return "-" if number is None else f"{_digits(number)}×"


def _digits(number: float | None) -> str:
    """Two digits behind the point, fewer in larger numbers."""
    if number is None:
        return "-"
    return f"{number:.2f}" if number < 9.995 else f"{number:.1f}" if number < 99.95 else f"{number:,.0f}"


def _left_out(scenarios: Sequence[Scenario]) -> list[str]:
    figures = scenarios[0].figures
    owners, kinds = len(figures.by_owner) - MOST_ROWS, len(figures.by_gpus) - MOST_ROWS
    more = [counted(owners, "more owner")] if owners > 0 else []
    more += [counted(kinds, "more number") + " of GPUs"] if kinds > 0 else []
    return [f"and {' and '.join(more)}: --json has all"] if more else []
