"""The end of what a command left behind, as its shim sees it."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, List, Optional

if TYPE_CHECKING:
    from tarmac.agent.procs.cgroup import Leaf
    from tarmac.agent.procs.containment import Containment

STRAGGLER_GRACE_S = 2.0
_KILL_AGAIN_S = 0.2


def is_tree_gone(leaf: Optional[Leaf], within_s: float = 0.0) -> bool:
    """As subreaper the shim inherits every orphan of its tree: without children, nothing is left."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if leaf is None or leaf.is_empty():
                return True
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return False
        # The signal is blocked since the agent's start, so one that arrived just before is not missed.
        signal.sigtimedwait([signal.SIGCHLD], left_s)


def end_stragglers(leaf: Optional[Leaf], containment: Containment, promised: List[float]) -> None:
    """End what the command left behind, mostly data loaders, as it occupies GPUs: SIGTERM, a while, SIGKILL.

    `promised`: the deadlines of a stop or a time limit. With one, everything got its signal with the command.
    """
    if promised:
        deadline = min(promised)
    else:
        containment.signal(signal.SIGTERM)
        deadline = time.monotonic() + STRAGGLER_GRACE_S
    while not is_tree_gone(leaf):
        if time.monotonic() >= deadline:
            containment.kill()
            deadline = time.monotonic() + _KILL_AGAIN_S
        # The signal is blocked since the agent's start, so one that arrived just before is not missed.
        signal.sigtimedwait([signal.SIGCHLD], max(0.0, deadline - time.monotonic()))
