"""What the shim notes of a command that failed, for the examination by the agent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, List

from tarmac.agent.run.shim.log_disk import is_full
from tarmac.agent.run.start_request import working_directory

if TYPE_CHECKING:
    from tarmac.agent.frames import OutputPlace, Remains
    from tarmac.agent.run.shim.exec_command import Opened
    from tarmac.shared.frames.base import AnyFrame


def remains_of(opened: Opened, start: AnyFrame, suspended_s: float) -> Remains:
    """Where the reason of a failure can be found."""
    stdout, stderr = start["stdout"], start.get("stderr")
    outputs: List[OutputPlace] = [{"path": stdout, "begin": opened.stdout_begin}]
    if stderr is not None and stderr != stdout:
        outputs.append({"path": stderr, "begin": opened.stderr_begin})
    cwd = working_directory(start["snapshot"]) if start.get("snapshot") else start["cwd"]
    return {"outputs": outputs, "cwd": cwd, "cwd_inode": opened.cwd_inode, "suspended_s": suspended_s}


def is_log_disk_full(remains: Remains) -> bool:
    """This can be seen only now."""
    return any(is_full(place["path"]) for place in remains["outputs"])


def suspended_s() -> float:
    """How long the machine was suspended since its boot."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
