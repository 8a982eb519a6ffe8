"""Finds the attempts of earlier agents at the agent's start: by the locks and records of the run directories.

Where a directory or its start record is missing, by their processes.
"""

from __future__ import annotations

from typing import Dict, Optional

from tarmac.agent.loop import log
from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.records.attempt_key import AttemptKey, key_of_record, parse_key
from tarmac.agent.records.run_folder import EXIT, START, Record, RunFolder
from tarmac.agent.run import traces
from tarmac.agent.run.adopt import AdoptedAttempt
from tarmac.agent.run.attempt import Attempt
from tarmac.agent.run.attempt_host import AttemptHost
from tarmac.agent.run.traces import Traces
from tarmac.shared.system import proc


def recover(host: AttemptHost) -> Dict[AttemptKey, Attempt]:
    attempts: Dict[AttemptKey, Attempt] = {}
    found = traces.search(host.context.instance)
    for folder in host.context.folders.open_all():
        _recover_folder(host, folder, attempts, found)
    for key in sorted(found.keys() - attempts.keys()):
        log(f"job {key}: has no run directory, but {len(found[key])} processes")
        _rebuild(host, key, None, attempts, found)
    if host.context.cgroup_base is not None:
        leaves = {attempt.leaf.path for attempt in attempts.values() if attempt.leaf is not None}
        cgroup.sweep(host.context.cgroup_base, leaves)
    if attempts:
        log(f"found {len(attempts)} attempts of an earlier agent")
    return attempts


def _recover_folder(host: AttemptHost, folder: RunFolder, attempts: Dict[AttemptKey, Attempt], found: Traces) -> None:
    folders = host.context.folders
    start, final = folder.read(START), folder.read(EXIT)
    is_locked = folder.is_locked()
    named = parse_key(folder.name) if folder.parent_fd == folders.runs_fd else None
    key = key_of_record(start) or key_of_record(final) or (named if is_locked or named in found else None)
    if key is None or key in attempts:
        # No start record, no shim that could still write one, and no process: it never ran. The controller will ask
        # again.
        folder.remove()
        return
    folders.ensure_name(folder, str(key))
    if start is None and final is None and not is_locked:
        log(f"job {key}: its start record cannot be read, but it has {len(found[key])} processes")
        _rebuild(host, key, folder, attempts, found)
    else:
        _add(host, key, folder, attempts, start, is_locked=is_locked)


def _rebuild(
    host: AttemptHost,
    key: AttemptKey,
    folder: Optional[RunFolder],
    attempts: Dict[AttemptKey, Attempt],
    found: Traces,
) -> None:
    start = traces.rebuild(host.context, key, found[key])
    folder = traces.store(host.context, folder, key, start)
    _add(host, key, folder, attempts, start, is_locked=False)


def _add(
    host: AttemptHost,
    key: AttemptKey,
    folder: RunFolder,
    attempts: Dict[AttemptKey, Attempt],
    start: Optional[Record],
    *,
    is_locked: bool,
) -> None:
    attempt = attempts[key] = _attempt(host, key, folder, start)
    attempt.found = start
    attempt.leaf = Leaf(start["cgroup"]) if start and start["cgroup"] else None
    if start is not None and (is_locked or _is_shim_alive(host, start)):
        attempt.follow_earlier(start)
    elif is_locked:
        host.loop.after(0.0, attempt.await_decision, attempt.name)
    else:
        attempt.settle()


def _is_shim_alive(host: AttemptHost, start: Record) -> bool:
    """Its lock is gone if the run directory was removed and created again."""
    is_now = start["boot_id"] == host.context.boot_id
    return is_now and "shim_pid" in start and proc.is_same(start["shim_pid"], start["shim_start_time"])


def _attempt(host: AttemptHost, key: AttemptKey, folder: RunFolder, start: Optional[Record]) -> Attempt:
    if start and start.get("adopted"):
        return AdoptedAttempt(host, key, folder)
    return Attempt(host, key, folder, start["port"] if start else None)
