"""The cost per job where hardly two waiting jobs are alike: they request different GPUs and host memory."""

import time
from collections.abc import Iterator
from math import log
from random import Random

from bench.figures import Figure
from bench.scheduling.grid import BALANCE
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.trace import TraceJob, trace_job
from tarmac.sim.world import simulate

GB = 1 << 30
FEW_KINDS, KINDS = 4, 1_600
JOBS = 4_000
OWNERS = 20
GAP_S = 60.0  # seven times as much work as the GPUs can do
MODELS = ((), ("a100",), ("h100",))
MACHINES = [
    Machine(gpus=(SimulatedGpu(memory_bytes=80 * GB, model=model),) * 8, cpus=128, memory_bytes=1024 * GB)
    for model in ("A100", "H100", "A100", "H100")
]


def figures() -> Iterator[Figure]:
    few_s, many_s = (cost_s(kinds) for kinds in (FEW_KINDS, KINDS))
    yield Figure(
        what=f"cost per job, {KINDS:,} distinct requests",
        measured=f"{many_s * 1000:.1f} ms",
        ratio=many_s * 1000,
        unit="ms",
        must=5,
        aim=2,
        note=f"({FEW_KINDS} requests: {few_s * 1000:.1f} ms)",
    )


def cost_s(kinds: int) -> float:
    """CPU seconds per job."""
    trace = scene(kinds)
    started_s = time.process_time()
    simulate(trace, MACHINES, BALANCE)
    return (time.process_time() - started_s) / len(trace)


def scene(kinds: int) -> list[TraceJob]:
    """More jobs than the nodes can run, so that most of the requests wait most of the time."""
    dice = Random(1)
    requests = [
        dict(
            gpus=dice.choice((1, 1, 1, 2, 4, 8)),
            gpu_models=dice.choice(MODELS),
            min_gpu_memory_bytes=(1 + kind) * (40 * GB // kinds),
            memory_bytes=0 if kind % 3 else (1 + kind) * (64 * GB // kinds),
        )
        for kind in range(kinds)
    ]
    return [_job(number * GAP_S, requests[dice.randrange(kinds)], dice) for number in range(JOBS)]


def _job(submit_s: float, request: dict, dice: Random) -> TraceJob:
    duration_s = min(86400.0, dice.lognormvariate(log(1800.0), 1.5))
    limit_s = duration_s * dice.uniform(1.1, 3.0)
    owner = f"owner{dice.randrange(OWNERS)}"
    return trace_job(submit_s=submit_s, owner=owner, duration_s=duration_s, limit_s=limit_s, **request)
