"""Named points where a test kills a process: TARMAC_CRASH_AT=name, or name@N for the N-th time it is reached.

A line on standard error, which is the log, shows the test that the point was reached.
"""

from __future__ import annotations

import os
import signal
from typing import Dict

_name, _, _times = os.environ.get("TARMAC_CRASH_AT", "").partition("@")
_seen: Dict[str, int] = {}


def reach(name: str) -> None:
    if name == _name:
        _seen[name] = _seen.get(name, 0) + 1
        if _seen[name] == int(_times or 1):
            os.write(2, b"crash point %s\n" % name.encode())
            os.kill(os.getpid(), signal.SIGKILL)


def count_from(times: int) -> None:
    """Set a shim's count to the number of jobs before this one, so that @N counts the jobs of all shims together."""
    if _name.startswith("shim:"):
        _seen[_name] = times
