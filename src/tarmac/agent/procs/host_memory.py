"""The host's memory, as /proc/meminfo tells it."""

from __future__ import annotations

from typing import Dict

WORTH_TELLING = 0.01  # of the total: less than that alone is no news


def read_memory(path: str = "/proc/meminfo") -> Dict[str, int]:
    kib: Dict[bytes, int] = {}
    with open(path, "rb") as file:
        for line in file:
            name, _, rest = line.partition(b":")
            if name in (b"MemTotal", b"MemAvailable", b"MemFree"):
                kib[name] = int(rest.split()[0])
    available = kib.get(b"MemAvailable", kib.get(b"MemFree", 0))
    return {"memory_total_bytes": kib.get(b"MemTotal", 0) * 1024, "memory_available_bytes": available * 1024}


def is_news(now: Dict[str, int], before: Dict[str, int]) -> bool:
    if now["memory_total_bytes"] != before["memory_total_bytes"]:
        return True
    moved = abs(now["memory_available_bytes"] - before["memory_available_bytes"])
    return moved >= WORTH_TELLING * now["memory_total_bytes"]
