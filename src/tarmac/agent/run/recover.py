"""Finds the attempts of earlier agents at the agent's start: the locks and records of the run folders tell."""

from __future__ import annotations

from typing import Dict, Optional

from tarmac.agent.loop import log
from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.run.adopt import AdoptedAttempt
from tarmac.agent.run.attempt import Attempt, AttemptHost
from tarmac.agent.run.attempt_key import AttemptKey, key_of_record, parse_key
from tarmac.agent.run.run_folder import EXIT, START, Record, RunFolder


def recover(host: AttemptHost) -> Dict[AttemptKey, Attempt]:
    attempts: Dict[AttemptKey, Attempt] = {}
    folders = host.context.folders
    for folder in folders.open_all():
        start = folder.read(START)
        is_locked = folder.is_locked()
        key = key_of_record(start) or key_of_record(folder.read(EXIT))
        if key is None and is_locked and folder.parent_fd == folders.runs_fd:
            key = parse_key(folder.name)
        if key is None or key in attempts:
            # No start record and no shim that could still write one: it never ran. The controller will ask again.
            folder.remove()
            continue
        folders.ensure_name(folder, str(key))
        attempt = attempts[key] = _attempt(host, key, folder, start)
        attempt.leaf = Leaf(start["cgroup"]) if start and start["cgroup"] else None
        _continue(attempt, start, is_locked=is_locked)
    if host.context.cgroup_base is not None:
        leaves = {attempt.leaf.path for attempt in attempts.values() if attempt.leaf is not None}
        cgroup.sweep(host.context.cgroup_base, leaves)
    if attempts:
        log(f"found {len(attempts)} attempts of an earlier agent")
    return attempts


def _attempt(host: AttemptHost, key: AttemptKey, folder: RunFolder, start: Optional[Record]) -> Attempt:
    if start and start.get("adopted"):
        return AdoptedAttempt(host, key, folder)
    return Attempt(host, key, folder, start["port"] if start else None)


def _continue(attempt: Attempt, start: Optional[Record], *, is_locked: bool) -> None:
    if not is_locked:
        attempt.settle()
    elif start is not None:
        attempt.follow_earlier(start)
    else:
        attempt.host.loop.after(0.0, attempt.await_decision, attempt.name)
