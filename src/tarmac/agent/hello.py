"""Answers the controller's hello: what this machine is, and which attempts it has.

An attempt that is missing in the answer counts as never started. So the answer waits until that is decided for each of
them. It also waits for the first reading of the GPUs, if an attempt has some and no record tells which.
"""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, Callable, Dict, List, Mapping, NamedTuple, Optional

from tarmac import __version__
from tarmac.agent.gpus.monitor import GpuMonitor
from tarmac.agent.loop import Loop
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.records.run_folder import START
from tarmac.agent.run import traces
from tarmac.agent.run.attempt import Attempt
from tarmac.agent.run.shim_pool import AgentContext
from tarmac.shared import protocol
from tarmac.shared.system import boot_clock

if TYPE_CHECKING:
    from tarmac.shared.frames.to_controller import AgentFrame, GuessEntry, OriginEntry

_AGAIN_S = 0.05
_WITHIN_S = 5.0  # a frozen shim or driver must not delay the answer for long


class Node(NamedTuple):
    """What the answer tells about."""

    context: AgentContext
    containment_reason: Optional[str]
    attempts: Mapping[AttemptKey, Attempt]
    gpus: GpuMonitor


class HelloAnswer:
    """The answer to one hello."""

    def __init__(self, loop: Loop, node: Node, send: Callable[[AgentFrame], None]) -> None:
        self._loop = loop
        self._node = node
        self._send = send
        self._deadline = time.monotonic() + _WITHIN_S
        self._has_gpus: Dict[AttemptKey, bool] = {}  # of attempts without an origin

    def send_when_decided(self, is_wanted: Callable[[], bool]) -> None:
        if not is_wanted():
            return
        if self._is_undecided() and time.monotonic() < self._deadline:
            self._loop.after(_AGAIN_S, lambda: self.send_when_decided(is_wanted), "hello")
            return
        self._send_now()

    def _is_undecided(self) -> bool:
        """Called repeatedly, so it reads no file of an attempt that is decided twice."""
        if any(attempt.present_report() is None or attempt.is_under_examination for attempt in self._attempts()):
            return True
        return self._node.gpus.latest is None and any(map(self._needs_gpus, self._lost()))

    def _attempts(self) -> List[Attempt]:
        return [attempt for attempt in self._node.attempts.values() if not attempt.is_forgotten]

    def _lost(self) -> List[Attempt]:
        """Return the attempts that run and whose origin is lost, or that an older agent started."""
        return [attempt for attempt in self._attempts() if not attempt.is_over and attempt.origin() is None]

    def _needs_gpus(self, attempt: Attempt) -> bool:
        if attempt.key not in self._has_gpus:
            record = attempt.read(START)
            self._has_gpus[attempt.key] = record is not None and bool(traces.gpus_of(record["pid"]))
        return self._has_gpus[attempt.key]

    def _send_now(self) -> None:
        context, attempts, latest = self._node.context, self._attempts(), self._node.gpus.latest
        reports = [attempt.present_report() for attempt in attempts]
        self._send(
            {
                "type": "hello",
                "protocol": protocol.PROTOCOL,
                "version": __version__,
                "node": socket.gethostname(),
                "boot_id": context.boot_id,
                "pid": os.getpid(),
                "cpus": len(os.sched_getaffinity(0)),
                "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
                "containment": "cgroup" if context.cgroup_base else "scan",
                "containment_reason": self._node.containment_reason,
                "runs": [report for report in reports if report is not None],
                "at": time.time(),
                "boot_s": boot_clock.seconds(),
                "origins": [entry for entry in map(_origin_entry, attempts) if entry is not None],
                "guesses": [entry for entry in map(self._guess, self._lost()) if entry is not None],
            }
        )
        if latest is not None:
            self._send(latest)

    def _guess(self, attempt: Attempt) -> Optional[GuessEntry]:
        record, latest = attempt.read(START), self._node.gpus.latest
        return traces.guess(attempt.key, record, latest["gpus"] if latest else ()) if record else None


def _origin_entry(attempt: Attempt) -> Optional[OriginEntry]:
    origin = attempt.origin()
    if origin is None:
        return None
    return {"job": attempt.key.job, "attempt": attempt.key.attempt, "body": origin["body"]}
