"""Simulated GPUs, as `TARMAC_FAKE_GPUS` describes them: "4", "4x24G", "2x24G,1x80G". They are always idle."""

from __future__ import annotations

import re
from typing import List

from tarmac.agent.gpus.sources.source import Absent, Gpu, Reading, gpu

MOST = 1024
UNITS = {"M": 1024**2, "G": 1024**3, "T": 1024**4}
GROUP = re.compile(r"(\d{1,6})(?:x(\d{1,6})([MGT])i?B?)?", re.IGNORECASE)


def fake_gpus(text: str) -> List[Gpu]:
    """Raises ValueError with words for whoever set the variable."""
    gpus: List[Gpu] = []
    for group in text.split(","):
        found = GROUP.fullmatch(group.strip())
        if not found:
            raise ValueError(f"TARMAC_FAKE_GPUS={text!r} is not understood: write 4, 4x24G or 2x24G,1x80G")
        count, size, unit = found.groups(default="")
        if len(gpus) + int(count) > MOST:
            raise ValueError(f"TARMAC_FAKE_GPUS={text!r} asks for more than {MOST} GPUs")
        size, unit = size or "24", (unit or "G").upper()
        gpus += [_gpu(len(gpus) + n, f"Simulated {size}{unit}", int(size) * UNITS[unit]) for n in range(int(count))]
    return gpus


class FakeSource:
    make = name = "fake"

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> Reading:
        try:
            return Reading(fake_gpus(self._text))
        except ValueError as error:
            raise Absent(str(error)) from None


def _gpu(index: int, model: str, memory_bytes: int) -> Gpu:
    one = gpu(index, f"GPU-fa4e0000-0000-0000-0000-{index:012x}", model, make="fake", total=memory_bytes, used=0)
    return {**one, "utilization": 0}
