"""Simulated GPUs, as `TARMAC_FAKE_GPUS` describes them: "4", "4x24G", "2x24G,1x80G".

They are always idle, unless `TARMAC_FAKE_LOAD` is set: see `fake_load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional
from zlib import crc32

from tarmac.agent.gpus.sources.source import Absent, Reading, new_gpu
from tarmac.shared.units import parse_size, typed_size

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu
    from tarmac.agent.gpus.gpu_processes import ProcessTable
    from tarmac.shared.frames.to_controller import GpuMake

MOST = 1024
DEFAULT_BYTES = 24 << 30


def fake_gpus(text: str, node: str = "") -> List[ProbedGpu]:
    """Raises ValueError with a message for the user who set the variable."""
    gpus: List[ProbedGpu] = []
    for group in text.split(","):
        count, x, memory = group.strip().lower().partition("x")
        try:
            memory_bytes = parse_size(memory) if x else DEFAULT_BYTES
        except ValueError:
            memory_bytes = 0
        if not memory_bytes or not count.isdecimal() or not count.isascii():
            raise ValueError(f"TARMAC_FAKE_GPUS={text!r} is not valid: write 4, 4x24G or 2x24G,1x80G")
        if len(gpus) + int(count[:7]) > MOST:
            raise ValueError(f"TARMAC_FAKE_GPUS={text!r} requests more than {MOST} GPUs")
        model = f"Simulated {typed_size(memory_bytes)}"
        gpus += [_gpu(len(gpus) + n, node, model, memory_bytes) for n in range(int(count))]
    return gpus


class FakeSource:
    make: GpuMake = "fake"
    name = "fake"

    def __init__(self, text: str, node: str = "", *, loaded_by: Optional[str] = None) -> None:
        """`loaded_by`: the home whose jobs load them."""
        self._text = text
        self._node = node
        self._loaded_by = loaded_by
        self._processes: Optional[ProcessTable] = None

    def read(self) -> Reading:
        try:
            gpus = fake_gpus(self._text, self._node)
        except ValueError as error:
            raise Absent(str(error)) from None
        return Reading(gpus if self._loaded_by is None else self._loaded(gpus, self._loaded_by))

    def _loaded(self, gpus: List[ProbedGpu], home: str) -> List[ProbedGpu]:
        from tarmac.agent.gpus.gpu_processes import ProcessTable
        from tarmac.agent.gpus.sources.fake_load import add_load, running_jobs

        if self._processes is None:
            self._processes = ProcessTable()
        loaded = add_load(gpus, running_jobs(home), self._processes)
        self._processes.prune()
        return loaded


def _gpu(index: int, node: str, model: str, memory_bytes: int) -> ProbedGpu:
    """UUIDs are unique across nodes, as those of real GPUs are."""
    uuid = f"GPU-fa4e0000-{crc32(node.encode()) & 0xFFFF:04x}-0000-0000-{index:012x}"
    gpu = new_gpu(index, uuid, model, make="fake", total=memory_bytes, used=0)
    return {**gpu, "utilization": 0}
