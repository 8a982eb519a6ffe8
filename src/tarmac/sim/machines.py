"""Simulated nodes, and the events that announce them to the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.events import GpusSeen, NodeJoined
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.core.events import Event

MOST_CPU_JOBS = 1 << 30  # jobs without GPUs never wait for a slot: a trace is about GPUs


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedGpu:
    memory_bytes: int = 0  # 0: unknown, so every size fits
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    gpus: tuple[SimulatedGpu, ...]
    cpus: int = 0  # 0: unlimited
    memory_bytes: int = 0

    @property
    def gpu_count(self) -> int:
        return len(self.gpus)


def joinings(machines: Sequence[Machine]) -> Iterator[Event]:
    for number, machine in enumerate(machines):
        name = NodeName(f"node{number}")
        yield GpusSeen(node=name, gpus=tuple(_gpus(name, machine)))
        yield NodeJoined(
            node=name,
            cpu_job_slots=MOST_CPU_JOBS,
            runs=(),
            cpus=machine.cpus,
            memory_total_bytes=machine.memory_bytes,
        )


def _gpus(node: NodeName, machine: Machine) -> Iterator[Gpu]:
    for index, gpu in enumerate(machine.gpus):
        uuid = GpuUuid(f"{node}-{index}")
        yield Gpu(uuid=uuid, index=index, model=gpu.model, memory_total_bytes=gpu.memory_bytes)
