"""Describes the processes that a command left behind, before they are ended: how many, and some of them by name.

Both are bounded: a job may leave thousands of processes, each with a command line of megabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from tarmac.agent.gpus.gpu_processes import command_of

if TYPE_CHECKING:
    from tarmac.shared.frames.reports import Leftovers, ReportFrame

MOST_NAMED = 8
COMMAND_CHARS = 80


def describe(members: Dict[int, int]) -> Optional[Leftovers]:
    """`members` is pid → start time. The processes that started first are named. None without processes."""
    if not members:
        return None
    first = sorted(members, key=lambda pid: (members[pid], pid))[:MOST_NAMED]
    return {"count": len(members), "processes": [{"pid": pid, "command": _shortened(command_of(pid))} for pid in first]}


def with_leftovers(report: ReportFrame, left: Optional[Dict[str, Any]]) -> ReportFrame:
    """Add the record of what the command left behind, if the shim was killed before it reported that."""
    if left is None or "leftovers" in report:
        return report
    leftovers: Leftovers = {"count": left["count"], "processes": left["processes"]}
    if report["type"] == "exited":
        return {**report, "leftovers": leftovers}
    if report["type"] == "gone":
        return {**report, "leftovers": leftovers}
    return {**report, "leftovers": leftovers} if report["type"] == "lost" else report


def _shortened(command: Optional[str]) -> Optional[str]:
    if command is None or len(command) <= COMMAND_CHARS:
        return command
    return command[: COMMAND_CHARS - 1] + "…"
