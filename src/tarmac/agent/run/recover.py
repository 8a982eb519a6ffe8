"""What an agent finds at its start: locks and records of the run folders tell what became of each attempt meanwhile."""

from __future__ import annotations

from typing import Dict, Optional

from tarmac.agent.loop import log
from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.run.adopt import Adoption
from tarmac.agent.run.attempt import Key, Run, RunHost
from tarmac.agent.run.run_folder import EXIT, START, Record, RunFolder


def recover(desk: RunHost) -> Dict[Key, Run]:
    runs: Dict[Key, Run] = {}
    for folder in desk.place.folders.open_all():
        start = folder.read(START)
        is_locked = folder.is_locked()
        key = _key(start) or _key(folder.read(EXIT))
        if key is None and is_locked and folder.parent_fd == desk.place.folders.runs_fd:
            key = _key_of_name(folder.name)
        if key is None or key in runs:
            # No start record and nobody who could still write one: it never ran. The controller asks again.
            folder.remove()
            continue
        desk.place.folders.put_right(folder, f"{key[0]}.{key[1]}")
        run = runs[key] = _run(desk, key, folder, start)
        run.leaf = Leaf(start["cgroup"]) if start and start["cgroup"] else None
        _begin(run, start, is_locked=is_locked)
    if desk.place.cgroup_base is not None:
        cgroup.sweep(desk.place.cgroup_base, {run.leaf.path for run in runs.values() if run.leaf is not None})
    if runs:
        log(f"found {len(runs)} attempts of an earlier agent")
    return runs


def _run(desk: RunHost, key: Key, folder: RunFolder, start: Optional[Record]) -> Run:
    if start and start.get("adopted"):
        return Adoption(desk, key, folder)
    return Run(desk, key, folder, start["port"] if start else None)


def _begin(run: Run, start: Optional[Record], *, is_locked: bool) -> None:
    if not is_locked:
        run.settle()
    elif start is not None:
        run.adopt(start)
    else:
        run.desk.loop.after(0.0, run.await_decision, run.name)


def _key(record: Optional[Record]) -> Optional[Key]:
    return (record["job"], record["attempt"]) if record else None


def _key_of_name(name: str) -> Optional[Key]:
    job, _, attempt = name.partition(".")
    return (int(job), int(attempt)) if job.isdigit() and attempt.isdigit() else None
