"""Single processes that are to hold no GPU, kept over restarts of the controller.

A pid is told from a later process with the same number by its start and by the boot it belongs to.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEPT_AS = "ignored_pids"  # among the settings in the store, though nobody types it there


class IgnoredPids:
    def __init__(self, kept: str | None, boot: str, start_of: Callable[[int], int | None]) -> None:
        self._boot = boot
        self._start_of = start_of
        self._starts = _read(kept or "", boot)
        self.prune()

    def __contains__(self, pid: object) -> bool:
        return pid in self._starts

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._starts))

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, pid: int) -> bool:
        """False: there is no such process."""
        start = self._start_of(pid)
        if start is not None:
            self._starts[pid] = start
        return start is not None

    def discard(self, pid: int) -> None:
        self._starts.pop(pid, None)

    def prune(self) -> None:
        """Those that have ended, before their numbers are given to others."""
        self._starts = {pid: start for pid, start in self._starts.items() if self._start_of(pid) == start}

    def text(self) -> str | None:
        """For the store; None where there is nothing to keep."""
        return f"{self._boot} " + " ".join(f"{pid}:{self._starts[pid]}" for pid in self) if self._starts else None


def _read(kept: str, boot: str) -> dict[int, int]:
    of_boot, *entries = kept.split() or [""]
    if of_boot != boot:
        return {}
    return {int(pid): int(start) for pid, _, start in (entry.partition(":") for entry in entries)}


def this_boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def start_of(pid: int) -> int | None:
    """In clock ticks since the boot; None when there is no such process."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(line[line.rindex(b")") + 2 :].split()[19])  # its name may hold blanks and parentheses
