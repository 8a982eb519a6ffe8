"""Finds the attempt that a process belongs to: by its cgroup, the mark in its environment, the tag in its limits, or
its ancestors.

All are needed: a machine may have no cgroups, a program that sets its title overwrites the mark, an attempt under a
real limit has no tag, and an adopted process has none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Iterable, NamedTuple, Optional, Sequence

from tarmac.agent.procs import limit_tag
from tarmac.agent.records.attempt_key import AttemptKey, parse_key
from tarmac.agent.run.attempt import Attempt

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedProcess, ProcessInfo
    from tarmac.shared.frames.to_controller import GpuProcessEntry


class _Root(NamedTuple):
    """The process an attempt started with."""

    key: AttemptKey
    start_time: Optional[int]  # None: the attempt ends with the process, so its pid suffices


class Attribution:
    """Knows the attempts that exist now; created for each reading that has processes."""

    def __init__(self, instance: str, attempts: Iterable[Attempt]) -> None:
        self._instance = instance
        self._mark = instance + ":"
        self._folder = f"/tarmac-{instance}/"
        self._leaves: Dict[str, AttemptKey] = {}
        self._roots: Dict[int, _Root] = {}
        # Attempts that are over come first: the next attempt of a shim has the same leaf.
        for attempt in sorted(attempts, key=lambda attempt: not attempt.is_over):
            if attempt.leaf is not None:
                self._leaves[attempt.leaf.path.rpartition("/")[2]] = attempt.key
            if attempt.latest is not None and attempt.latest["type"] == "started":
                self._roots[attempt.latest["pid"]] = _Root(attempt.key, attempt.start_time)

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

    def key_of(self, process: ProcessInfo) -> Optional[AttemptKey]:
        return (
            self._by_cgroup(process["cgroup"])
            or self._by_mark(process["marks"])
            or self._by_tag(process["tag"])
            or self._by_pid(process["ancestors"])
        )

    def _by_cgroup(self, path: Optional[str]) -> Optional[AttemptKey]:
        below = (path or "").partition(self._folder)[2]
        return self._leaves.get(below.partition("/")[0])

    def _by_mark(self, marks: Iterable[str]) -> Optional[AttemptKey]:
        for mark in marks:
            if mark.startswith(self._mark):
                key = parse_key(mark[len(self._mark) :])
                if key is not None:
                    return key
        return None

    def _by_tag(self, tag: Optional[int]) -> Optional[AttemptKey]:
        if tag is None or tag == limit_tag.own_limit():  # as every process, if the agent was started from within a job
            return None
        return limit_tag.key_of_tag(self._instance, tag)

    def _by_pid(self, ancestors: Iterable[Sequence[int]]) -> Optional[AttemptKey]:
        for pid, start_time in ancestors:
            root = self._roots.get(pid)
            if root is not None and root.start_time in (None, start_time):
                return root.key
        return None
