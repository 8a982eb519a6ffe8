"""Finds attempts by their processes: their run directory was removed, or its start record cannot be read.

The start record is written anew from what the processes tell. From then on, it is an attempt like any other.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional

from tarmac.agent.gpus import gpu_processes
from tarmac.agent.loop import log
from tarmac.agent.procs import limit_tag
from tarmac.agent.procs.owner import is_ours
from tarmac.agent.procs.proc_scan import MARK, read_all, read_marks
from tarmac.agent.records.attempt_key import AttemptKey, parse_key
from tarmac.agent.records.run_folder import START, Record, RunFolder
from tarmac.agent.run.shim_pool import AgentContext
from tarmac.shared.system import proc
from tarmac.shared.system.proc import Stat

if TYPE_CHECKING:
    from tarmac.shared.frames.to_controller import GpuEntry, GuessEntry

_NO_PID = 1 << 30  # more than the kernel ever gives; 0 would mean a whole process group
Traces = Dict[AttemptKey, List[Stat]]


def search(instance: str) -> Traces:
    """Return all our living processes that carry the mark or the tag of an attempt, by attempt."""
    found: Traces = {}
    own = _Own(instance)
    for stat in read_all().values():
        key = own.key_of(stat.pid) if stat.is_alive and stat.pid != os.getpid() else None
        if key is not None and is_ours(stat.pid):
            found.setdefault(key, []).append(stat)
    return found


class _Own:
    """Reads marks and tags of this instance. What the agent carries itself says nothing: it was started from a job."""

    def __init__(self, instance: str) -> None:
        self._instance = instance
        self._prefix = f"{MARK}={instance}:"
        self._limit = limit_tag.own_limit()
        self._marks = set(read_marks(os.getpid()))

    def key_of(self, pid: int) -> Optional[AttemptKey]:
        tag = limit_tag.read_tag(pid)
        key = None if tag in (None, self._limit) else limit_tag.key_of_tag(self._instance, tag or 0)
        if key is not None:
            return key
        for mark in read_marks(pid):
            text = mark.decode("utf-8", "replace")
            if mark not in self._marks and text.startswith(self._prefix):
                return parse_key(text[len(self._prefix) :])
        return None


def has_begun(context: AgentContext, key: AttemptKey, processes: List[Stat]) -> bool:
    """True if a process has the mark in its environment, which it gets when the command is executed."""
    mark = f"{MARK}={context.mark(key)}".encode()
    return any(mark in read_marks(stat.pid) for stat in processes)


def rebuild(context: AgentContext, key: AttemptKey, processes: List[Stat]) -> Record:
    """Return a start record for an attempt that has these processes. Its origin is lost."""
    shim = _shim_of(context, key, processes)
    children = [stat for stat in processes if shim is not None and stat.parent == shim.pid and stat.session == stat.pid]
    main = min(children or processes, key=lambda stat: (stat.start_time, stat.pid))
    started = gpu_processes.started(main)
    return {
        "job": key.job,
        "attempt": key.attempt,
        "boot_id": context.boot_id,
        "shim_pid": shim.pid if shim else _NO_PID,
        "shim_start_time": shim.start_time if shim else 0,
        "pid": main.pid,
        "start_time": main.start_time,
        "started_at": started.at,
        "started_s": started.boot_s,
        "port": None,
        "cgroup": _leaf_of(context, main.pid),
        "limit": None,
        "origin": None,
        "tag": max(limit_tag.read_tag(stat.pid) or 0 for stat in processes) or None,
    }


def gpus_of(pid: int) -> List[int]:
    """Return the indices of the GPUs that its job got, from its environment."""
    words = _environment(pid).get(b"TARMAC_GPUS", b"").split(b",")
    return [int(word) for word in words if word.isdigit()]


def guess(key: AttemptKey, record: Record, gpus: Iterable[GpuEntry]) -> GuessEntry:
    """Return what the command's process tells, for a controller that lacks the job."""
    pid = record["pid"]
    indices = gpus_of(pid)
    cwd = _environment(pid).get(b"PWD")
    return {
        "job": key.job,
        "attempt": key.attempt,
        "pid": pid,
        "started_at": record["started_at"],
        "user": gpu_processes.ProcessTable().look_up(pid)["user"],
        "argv": gpu_processes.argv_of(pid),
        "cwd": cwd.decode("utf-8", "replace") if cwd else None,
        "gpus": [
            {"uuid": gpu["uuid"], "index": gpu["index"], "parent": gpu["parent"]}
            for gpu in gpus
            if gpu["index"] in indices
        ],
    }


def _environment(pid: int) -> Dict[bytes, bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return {}
    return {name: value for name, _, value in (entry.partition(b"=") for entry in entries)}


def store(context: AgentContext, folder: Optional[RunFolder], key: AttemptKey, record: Record) -> RunFolder:
    """Write the record into the attempt's directory, or into a new one. Raises OSError if there can be none."""
    if folder is None:
        folder = context.folders.create(in_advance=False)
        context.folders.assign(folder, str(key))
    try:
        folder.write_durably(START, record)
    except OSError as error:
        log(f"job {key}: cannot write its start record anew: {error}")
    return folder


def _shim_of(context: AgentContext, key: AttemptKey, processes: List[Stat]) -> Optional[Stat]:
    """Return the shim, if it lives: the parent that has the run directory open, even if that was removed."""
    folder = os.path.join(os.path.realpath(context.folders.path), "runs", str(key))
    for parent in sorted({stat.parent for stat in processes}):
        if any(f"{path}/".startswith((f"{folder}/", f"{folder} (deleted)/")) for path in _open_paths(parent)):
            return proc.read_stat(parent)
    return None


def _open_paths(pid: int) -> List[str]:
    try:
        return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []  # it has ended, or belongs to another user


def _leaf_of(context: AgentContext, pid: int) -> Optional[str]:
    """Return the path of the cgroup of its attempt, if it is in one."""
    below = (gpu_processes.cgroup_of(pid) or "").partition(f"/tarmac-{context.instance}/")[2]
    if not below or context.cgroup_base is None:
        return None
    return os.path.join(context.cgroup_base, below.partition("/")[0])
