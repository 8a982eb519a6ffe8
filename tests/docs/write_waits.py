"""Puts figures of a generated trace into docs/waiting-less.md: python -m tests.docs.write_waits"""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean, mean
from typing import NamedTuple

from tarmac.cli.verbs.admin.simulate.nodes import machines
from tarmac.sim.comparison import Scenario, Variant, compare
from tarmac.sim.figures import of_all
from tarmac.sim.synthetic import made_up

PAGE = Path(__file__).parents[2] / "docs" / "waiting-less.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
JOBS, NODES, SEEDS = 300, "4x8", range(4)  # as in the commands on the page
VARIANTS = {
    "plain FIFO, without backfill": Variant(policy="fifo", is_backfilling=False),
    "`fifo`": Variant(policy="fifo"),
    "`fairshare`": Variant(policy="fairshare"),
    "`balance`": Variant(policy="balance"),
    "`balance`, order `expected`": Variant(policy="balance", order="expected"),
    "limits of twice the duration: `balance`": Variant(policy="balance", limits="x2"),
    "no limits: `fifo`": Variant(policy="fifo", limits="none"),
    "no limits: `fairshare`": Variant(policy="fairshare", limits="none"),
    "no limits: `balance`": Variant(policy="balance", limits="none"),
}
TITLES = ("", "wait vs plain FIFO", "slowdown", "idle while jobs wait", "short of shares")


class Summary(NamedTuple):
    """Of one variant on several traces: geometric means of ratios, and means of fractions."""

    wait: float
    slowdown: float
    idle: float
    short: float

    def cells(self) -> list[str]:
        return [
            f"{self.wait:.2f}",
            f"{self.slowdown:.0f}",
            f"{self.idle:.1%}",
            f"{self.short:.0%}",
        ]


def summaries() -> dict[str, Summary]:
    nodes = machines(NODES, cpus=0, memory_bytes=0)
    traces = [compare(made_up(JOBS, nodes, seed), nodes, VARIANTS.values()) for seed in SEEDS]
    return {label: _summary(runs) for label, *runs in zip(VARIANTS, *traces, strict=True)}


def _summary(runs: list[Scenario]) -> Summary:
    figures = [run.figures for run in runs]
    return Summary(
        geometric_mean([run.relative_wait(of_all) or 0.0 for run in runs]),
        geometric_mean([one.waits.mean_slowdown or 0.0 for one in figures]),
        mean([one.idle_part for one in figures]),
        mean([one.short_part for one in figures]),
    )


def with_figures(page: str, rows: dict[str, Summary]) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [TITLES, ("---", *["---:"] * (len(TITLES) - 1))]
    lines += [(label, *row.cells()) for label, row in rows.items()]
    shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{before}{BEGIN}\n\n{shown}\n\n{END}{after}"


def figures_on(page: str) -> dict[str, list[str]]:
    shown = page.partition(BEGIN)[2].partition(END)[0]
    lines = [line for line in shown.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {label: cells for label, *cells in rows}


if __name__ == "__main__":
    PAGE.write_text(with_figures(PAGE.read_text(encoding="utf-8"), summaries()), encoding="utf-8")
