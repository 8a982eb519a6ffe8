"""Waits out a shortage of descriptors or memory. Only for shims: each has one attempt, and nothing better to do.

A shim must not die of a shortage: nobody else knows how its command ends. The agent never waits, see its loop.
"""

from __future__ import annotations

import time
from typing import Callable, Dict, TypeVar

from tarmac.agent.procs.containment import Containment
from tarmac.shared.system.shortage import is_shortage

_AGAIN_S = 0.1
T = TypeVar("T")


def patiently(call: Callable[[], T]) -> T:
    """Call it again until it does not fail because of a shortage."""
    while True:
        try:
            return call()
        except OSError as error:
            if not is_shortage(error):
                raise
        time.sleep(_AGAIN_S)


class PatientContainment(Containment):
    """Waits in each step, so no process gets a signal twice."""

    def members(self) -> Dict[int, int]:
        return patiently(super().members)

    def _send_to(self, pid: int, start_time: int, signum: int) -> None:
        patiently(lambda: super(PatientContainment, self)._send_to(pid, start_time, signum))
