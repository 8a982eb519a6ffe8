"""The benefit of backfill that the simulator computes."""

from collections.abc import Iterator

from bench.figures import Figure
from tarmac.sim.comparison import Scenario, Variant, played
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.synthetic import made_up

SEED = 1
COMPARED = 5_000  # jobs, on 8 × 8 GPUs
GPUS = 8


def figures() -> Iterator[Figure]:
    easy_s, plain_s = (mean_wait_s(is_backfilling=is_backfilling) for is_backfilling in (True, False))
    yield Figure(
        what="mean wait, EASY backfill ÷ plain FIFO",
        measured=f"{easy_s / 60:.1f} ÷ {plain_s / 60:.1f} min",
        ratio=easy_s / plain_s,
        unit="×",
        must=0.99,
        aim=0.5,
    )


def mean_wait_s(*, is_backfilling: bool) -> float:
    mean_s = simulated(COMPARED, nodes(8), is_backfilling=is_backfilling).figures.waits.mean_s
    assert mean_s is not None
    return mean_s


def simulated(jobs: int, machines: list[Machine], *, is_backfilling: bool = True) -> Scenario:
    variant = Variant(policy="fifo", is_backfilling=is_backfilling)
    return played(made_up(jobs, machines, SEED), machines, variant)


def nodes(count: int) -> list[Machine]:
    return [Machine(gpus=(SimulatedGpu(),) * GPUS)] * count
