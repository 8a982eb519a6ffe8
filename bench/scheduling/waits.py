"""Mean waits of the core beside its references, in every setting of the grid."""

from collections.abc import Iterator
from math import exp, log

from bench.figures import Figure
from bench.scheduling.grid import Grid, Setting
from bench.scheduling.workload import GPUS_PER_NODE

SMALL, LARGE = 1, 4  # nodes
POLICIES = ("balance", "fifo")


def no_limits(grid: Grid) -> Iterator[Figure]:
    """What a policy loses where people give no time limits."""
    settings = grid.settings(SMALL, LARGE)
    grid.compute(settings, [f"{policy}, {limits}" for policy in POLICIES for limits in ("limits", "none")])
    for policy in POLICIES:
        for nodes in (SMALL, LARGE):
            some = [setting for setting in settings if setting.nodes == nodes]
            ratios = [grid.wait_ratio(setting, f"{policy}, none", f"{policy}, limits") for setting in some]
            yield Figure(
                what=f"no limits: {policy} ÷ with limits, {nodes}×{GPUS_PER_NODE}",
                measured=_hours(grid, some, f"{policy}, none", f"{policy}, limits"),
                ratio=geometric_mean(ratios),
                unit="×",
                must=1.5,
                aim=1.25,
                note=f"({min(ratios):.2f}–{max(ratios):.2f})",
            )


def against_fifo(grid: Grid) -> Iterator[Figure]:
    """Without limits, no setting may be worse than plain FIFO, and the GPUs should be as busy as under EASY."""
    settings = grid.settings(SMALL, LARGE)
    grid.compute(settings, ["plain FIFO", "EASY", *(f"{policy}, none" for policy in POLICIES)])
    for policy in POLICIES:
        name = f"{policy}, none"
        ratios = [grid.wait_ratio(setting, name, "plain FIFO") for setting in settings]
        yield Figure(
            what=f"no limits: {policy} above plain FIFO",
            measured=f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} settings",
            ratio=sum(ratio > 1 for ratio in ratios),
            unit="",
            must=0,
            aim=0,
            note=f"({min(ratios):.2f}–{max(ratios):.2f})",
        )
        worse, setting = max((100 * _utilization_lost(grid, setting, name), setting) for setting in settings)
        yield Figure(
            what=f"no limits: {policy}, utilization below EASY",
            measured=f"{worse:.1f} points",
            ratio=worse,
            unit="points",
            must=2,
            aim=1,
            note=f"({setting})",
        )


def against_easy(grid: Grid) -> Iterator[Figure]:
    yield _against(grid, "fifo, limits", "EASY", must=1.05, aim=1.02)


def against_max_min(grid: Grid) -> Iterator[Figure]:
    yield _against(grid, "balance, limits", "max-min", must=1.08, aim=1.05)


def against_shortest_first(grid: Grid) -> Iterator[Figure]:
    """Each owner's shortest jobs first, beside an oracle that knows all lengths and is fair to nobody."""
    settings = grid.settings(LARGE)
    names = {"order = expected": "with limits", "order = expected, none": "no limits"}
    grid.compute(settings, [*names, "SJF"])
    for name, limits in names.items():
        ratios = [grid.wait_ratio(setting, name, "SJF") for setting in settings]
        yield Figure(
            what=f"order = expected ÷ SJF oracle, {limits}, {LARGE}×{GPUS_PER_NODE}",
            measured=_hours(grid, settings, name, "SJF"),
            ratio=geometric_mean(ratios),
            unit="×",
            must=3,
            aim=2.5,
            note=f"({min(ratios):.2f}–{max(ratios):.2f})",
        )


def geometric_mean(ratios: list[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios))


def _against(grid: Grid, name: str, reference: str, *, must: float, aim: float) -> Figure:
    """The worst setting."""
    settings = grid.settings(SMALL, LARGE)
    grid.compute(settings, [name, reference])
    ratios = [grid.wait_ratio(setting, name, reference) for setting in settings]
    worst = settings[ratios.index(max(ratios))]
    return Figure(
        what=f"{name} ÷ {reference}, worst setting",
        measured=_hours(grid, [worst], name, reference),
        ratio=max(ratios),
        unit="×",
        must=must,
        aim=aim,
        note=f"(mean {geometric_mean(ratios):.2f}; {worst})",
    )


def _utilization_lost(grid: Grid, setting: Setting, name: str) -> float:
    return grid.results[setting, "EASY"].utilization - grid.results[setting, name].utilization


def _hours(grid: Grid, settings: list[Setting], name: str, other: str) -> str:
    """Mean waits over the settings."""
    sums = [sum(grid.results[setting, one].mean_wait_s for setting in settings) for one in (name, other)]
    return " ÷ ".join(f"{total / len(settings) / 3600:.1f}" for total in sums) + " h"
