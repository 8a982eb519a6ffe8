"""Describes the processes that a command left behind, before they are ended: how many, and some of them by name.

Both are bounded: a job may leave thousands of processes, each with a command line of megabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional

from tarmac.agent.gpus.gpu_processes import command_of

if TYPE_CHECKING:
    from tarmac.shared.frames.to_controller import Leftovers

MOST_NAMED = 8
COMMAND_CHARS = 80


def describe(members: Dict[int, int]) -> Optional[Leftovers]:
    """`members` is pid → start time. The processes that started first are named. None if there are none."""
    if not members:
        return None
    first = sorted(members, key=lambda pid: (members[pid], pid))[:MOST_NAMED]
    return {"count": len(members), "processes": [{"pid": pid, "command": _shortened(command_of(pid))} for pid in first]}


def _shortened(command: Optional[str]) -> Optional[str]:
    if command is None or len(command) <= COMMAND_CHARS:
        return command
    return command[: COMMAND_CHARS - 1] + "…"
