"""Facts about this machine that the controller asks for: whether paths are usable, and who a process is.

Only plain `stat` and `access` calls: the agent has one thread, so the controller asks about many paths in several
questions, and other frames are served in between.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, List, Optional

from tarmac.agent.output_files import OutputFiles
from tarmac.agent.procs.owner import uid_of
from tarmac.shared.own.files import OwnFiles
from tarmac.shared.system import proc

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import CheckPathsFrame, DescribeProcessesFrame
    from tarmac.shared.frames.to_controller import (
        PathsCheckedFrame,
        ProcessDescription,
        ProcessesDescribedFrame,
    )


def check_paths(frame: CheckPathsFrame, state: str) -> PathsCheckedFrame:
    """`state` is the agent's state directory, which is reserved as well as the directories that the frame names."""
    files = OutputFiles(OwnFiles([state, *frame.get("reserved", [])]))
    judged = [files.judge(path) for path in frame["outputs"]]
    return {
        "type": "paths_checked",
        "ref": frame.get("ref"),
        "directories": [os.path.isdir(path) for path in frame["directories"]],
        "outputs": [one.verdict for one in judged],
        "identities": [one.identities for one in judged],
        "present": [os.path.exists(path) for path in frame.get("present", [])],
        "programs": [os.path.isfile(path) and os.access(path, os.X_OK) for path in frame.get("programs", [])],
    }


def describe_processes(frame: DescribeProcessesFrame, boot_id: str) -> ProcessesDescribedFrame:
    found = [_describe(int(pid)) for pid in frame["pids"]]
    return {
        "type": "processes_described",
        "ref": frame.get("ref"),
        "boot_id": boot_id,
        "agent_uid": os.getuid(),
        "processes": [process for process in found if process is not None],
    }


def _describe(pid: int) -> Optional[ProcessDescription]:
    """None if the process does not exist or ends meanwhile."""
    stat = proc.read_stat(pid) if pid > 0 else None
    if stat is None or not stat.is_alive:
        return None
    uid = uid_of(pid)
    if uid is None:
        return None
    return {
        "pid": pid,
        "start_time": stat.start_time,
        "uid": uid,
        "name": _read(pid, "comm").rstrip("\n"),
        "command": _command(pid),
        "cwd": _cwd(pid),
    }


def _command(pid: int) -> List[str]:
    """Empty for a kernel thread, and for a moment while a process becomes another program."""
    words = _read(pid, "cmdline").rstrip("\0")
    return words.split("\0") if words else []


def _cwd(pid: int) -> Optional[str]:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def _read(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
