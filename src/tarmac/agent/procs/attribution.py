"""Which attempt a process on a GPU belongs to: by its cgroup, by the mark in its environment, by its ancestors.

All three are needed: without cgroups there is no first, a program that sets its title overwrites the second, and a
process that was adopted has neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Iterable, Optional, Sequence, Tuple

from tarmac.agent.run.attempt import Key, Run

if TYPE_CHECKING:
    from tarmac.shared.frames import GpuProcessEntry, ProbedProcess, ProcessInfo


class Attribution:
    """Of the attempts there are now; made anew for every reading that has holders."""

    def __init__(self, instance: str, runs: Iterable[Run]) -> None:
        self._mark = instance + ":"
        self._folder = f"/tarmac-{instance}/"
        self._leaves: Dict[str, Key] = {}
        self._pids: Dict[int, Tuple[Key, Optional[int]]] = {}
        # Those that are over first: a shim's next attempt lives in the same leaf.
        for run in sorted(runs, key=lambda run: not run.is_over):
            if run.leaf is not None:
                self._leaves[run.leaf.path.rpartition("/")[2]] = run.key
            if run.report is not None and run.report["type"] == "started":
                self._pids[run.report["pid"]] = (run.key, getattr(run, "start_time", None))

    def entry_of(self, process: ProbedProcess) -> GpuProcessEntry:
        """Return the process as the controller gets it."""
        job, attempt = self.key_of(process) or (None, None)
        return {
            "pid": process["pid"],
            "user": process["user"],
            "command": process["command"],
            "memory_bytes": process["memory_bytes"],
            "started_at": process["started_at"],
            "start_time": process["ancestors"][0][1] if process["ancestors"] else None,
            "job": job,
            "attempt": attempt,
        }

    def key_of(self, process: ProcessInfo) -> Optional[Key]:
        return (
            self._by_cgroup(process["cgroup"]) or self._by_mark(process["marks"]) or self._by_pid(process["ancestors"])
        )

    def _by_cgroup(self, path: Optional[str]) -> Optional[Key]:
        below = (path or "").partition(self._folder)[2]
        return self._leaves.get(below.partition("/")[0])

    def _by_mark(self, marks: Iterable[str]) -> Optional[Key]:
        for mark in marks:
            if mark.startswith(self._mark):
                job, _, attempt = mark[len(self._mark) :].partition(".")
                if job.isdigit() and attempt.isdigit():
                    return int(job), int(attempt)
        return None

    def _by_pid(self, ancestors: Iterable[Sequence[int]]) -> Optional[Key]:
        for pid, start_time in ancestors:
            key, expected = self._pids.get(pid, (None, None))
            if key is not None and expected in (None, start_time):
                return key
        return None
