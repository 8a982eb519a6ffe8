"""The processes that were still running when a job's command had ended, and that Tarmac ended."""

from __future__ import annotations

from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftProcess:
    pid: int
    command: str | None  # shortened; None: it ended before it could be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    count: int
    processes: tuple[LeftProcess, ...]  # some of them
