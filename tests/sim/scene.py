"""Small traces whose outcome can be computed by hand."""

from typing import Any

from tarmac.sim.comparison import Scenario, Variant, played
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.trace import TraceJob, trace_job

GIB = 1 << 30


def a_row(submit_s: float, owner: str, gpus: int, duration_s: float, limit_s: float | None = None, **more: Any):
    return trace_job(submit_s=submit_s, owner=owner, gpus=gpus, duration_s=duration_s, limit_s=limit_s, **more)


def nodes(count: int, gpus: int, memory_bytes: int = 0, **host: Any) -> list[Machine]:
    return [Machine(gpus=(SimulatedGpu(memory_bytes=memory_bytes),) * gpus, **host)] * count


def outcome_of(
    trace: list[TraceJob], machines: list[Machine], policy: str = "fifo", *, is_backfilling: bool = True
) -> Scenario:
    return played(trace, machines, Variant(policy=policy, is_backfilling=is_backfilling))


def waits(scenario: Scenario) -> list[float | None]:
    return [scenario.outcome.wait_s(number) for number in range(len(scenario.outcome.trace))]


# On one node with two GPUs. The second job needs both, and cannot have them before 100.
# Backfill starts the third job earlier, because it ends by 60, but not the fourth, which may run until 120.
WIDE_AND_NARROW = [
    a_row(0, "ann", 1, 100, 100),
    a_row(0, "ann", 2, 50, 50),
    a_row(10, "bob", 1, 50, 50),
    a_row(20, "bob", 1, 500, 60),
]
