"""The host's memory, from /proc/meminfo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict

if TYPE_CHECKING:
    from tarmac.shared.frames.to_controller import HostMemory

NOTABLE = 0.01  # of the total: a smaller change alone is not reported


def read_memory(path: str = "/proc/meminfo") -> HostMemory:
    kib: Dict[bytes, int] = {}
    with open(path, "rb") as file:
        for line in file:
            name, _, rest = line.partition(b":")
            if name in (b"MemTotal", b"MemAvailable", b"MemFree"):
                kib[name] = int(rest.split()[0])
    available = kib.get(b"MemAvailable", kib.get(b"MemFree", 0))
    return {"memory_total_bytes": kib.get(b"MemTotal", 0) * 1024, "memory_available_bytes": available * 1024}


def has_changed(now: HostMemory, before: HostMemory) -> bool:
    if now["memory_total_bytes"] != before["memory_total_bytes"]:
        return True
    moved = abs(now["memory_available_bytes"] - before["memory_available_bytes"])
    return moved >= NOTABLE * now["memory_total_bytes"]
