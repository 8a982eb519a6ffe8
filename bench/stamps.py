"""The time stamps that the benchmark's jobs write at their start and end."""

import os
import time
from dataclasses import dataclass

PATIENCE_S = 300.0


@dataclass(frozen=True, kw_only=True, order=True)
class Stamp:
    start_s: float
    end_s: float


def read(path: str) -> list[Stamp]:
    if not os.path.exists(path):
        return []
    with open(path) as file:
        pairs = [line.split() for line in file if line.endswith("\n")]
    return sorted(Stamp(start_s=int(start) / 1e9, end_s=int(end) / 1e9) for start, end in pairs)


def wait_for(path: str, count: int) -> list[Stamp]:
    """Poll rarely: polling takes CPU time from the measured jobs, and the stamps have the times."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        stamps = read(path)
        if len(stamps) >= count:
            return stamps
        time.sleep(0.02)
    raise TimeoutError(f"{len(read(path))} of {count} jobs ran within {PATIENCE_S:.0f} s")
