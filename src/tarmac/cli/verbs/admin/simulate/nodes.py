"""Parses machines: 4x8, or 2x8:80G:H100,4x4:24G."""

from __future__ import annotations

from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.typed.values import positive, size

MOST_GPUS = 1_000_000
SHAPE = "it must be such as 4x8, or 2x8:80G:H100,4x4:24G (nodes, GPUs of each, their memory, their model)"


def machines(word: str, *, cpus: int, memory_bytes: int) -> list[Machine]:
    found: list[Machine] = []
    for part in word.split(","):
        count, gpu, gpus = _part(part.strip())
        machine = Machine(gpus=(gpu,) * gpus, cpus=cpus, memory_bytes=memory_bytes)
        if sum(known.gpu_count for known in found) + count * gpus > MOST_GPUS:
            raise ValueError(f"that is more than {MOST_GPUS:,} GPUs")
        found += [machine] * count
    return found


def _part(part: str) -> tuple[int, SimulatedGpu, int]:
    shape, *rest = part.split(":", 2)
    count, x, gpus = shape.partition("x")
    try:
        memory_bytes = size(rest[0]) if rest and rest[0] else 0
        numbers = positive(count), positive(gpus)
    except ValueError:
        raise ValueError(SHAPE) from None
    if not x or numbers[0] * numbers[1] > MOST_GPUS:
        raise ValueError(f"that is more than {MOST_GPUS:,} GPUs")
    return numbers[0], SimulatedGpu(memory_bytes=memory_bytes, model=rest[1] if len(rest) > 1 else ""), numbers[1]
