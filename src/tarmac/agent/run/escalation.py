"""How an attempt is ended: a signal to its whole tree, time to obey, SIGKILL to what is left, again until nothing is.

The deadline is kept in the run folder: the shim gives stragglers as long as was promised, and a later agent goes on.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Optional

from tarmac.agent.loop import Timer, log
from tarmac.agent.procs import containment
from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.proc_scan import Tree
from tarmac.agent.run.run_folder import START, STOP
from tarmac.agent.run.shim import STRAGGLER_GRACE_S
from tarmac.shared import proc, protocol

if TYPE_CHECKING:
    from tarmac.agent.run.attempt import Run
    from tarmac.shared.frames import ReportFrame

_KILL_AGAIN_S = (0.05, 0.2, 1.0, 5.0)


class Stop:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._containment: Optional[Containment] = None
        self._deadline: Optional[float] = None  # on the monotonic clock, which all processes of one boot share
        self._signum = 0
        self._timer: Optional[Timer] = None
        self._kills = 0

    def ask(self, signum: int, grace_s: float) -> None:
        """Repeating it is harmless; a shorter grace brings the end forward, a longer one does not put it off."""
        if self._run.is_over:
            return
        deadline = time.monotonic() + max(0.0, grace_s)
        if self._deadline is None or deadline < self._deadline:
            self._set_deadline(deadline)
        self._signum = signum
        if grace_s > 0 and signum != signal.SIGKILL:
            self.containment().signal(signum)
        else:
            self._kill()

    @property
    def is_asked(self) -> bool:
        return self._deadline is not None

    @property
    def is_pending(self) -> bool:
        """Asked and not carried out. What does not go although SIGKILL was sent time and again will when it can."""
        return self.is_asked and not self._run.is_over and self._kills < len(_KILL_AGAIN_S)

    def resume(self) -> None:
        """What an earlier agent was asked."""
        asked = self._run.read(STOP)
        if asked is not None:
            self._set_deadline(asked["deadline"])

    def end_stragglers(self) -> None:
        """What the shim would have done, had it not been killed after the exit record."""
        if self._deadline is None:
            self.ask(signal.SIGTERM, STRAGGLER_GRACE_S)

    def reported(self, report: ReportFrame) -> None:
        if protocol.is_final(report):
            if self._timer is not None:
                self._timer.cancel()
        elif report["type"] == "started" and self._signum:
            # Asked while the shim was still at it: the signal may have found nobody.
            self.containment().signal(self._signum)

    def containment(self) -> Containment:
        if self._containment is not None:
            return self._containment
        mark = self._run.desk.place.mark(*self._run.key)
        start = self._run.read(START)
        if start is None:
            return self._below_shim(mark)
        self._containment = containment.from_record(start, mark)
        self._containment.tree.orphans = self._run.desk.orphans
        return self._containment

    def _below_shim(self, mark: str) -> Containment:
        """While there is no start record yet."""
        shim = self._run.shim_pid or 0
        stat = proc.read_stat(shim)
        return Containment(self._run.leaf, Tree(mark, shim, stat.start_time if stat else 0))

    def _set_deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self._kills = 0
        try:
            job, attempt = self._run.key
            self._run.folder.write(STOP, {"job": job, "attempt": attempt, "deadline": deadline})
        except OSError as error:
            log(f"{self._run.name}: the deadline for its end cannot be kept: {error}")
        self._arm(deadline - time.monotonic())

    def _arm(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._run.desk.loop.after(max(0.0, seconds), self._kill, self._run.name)

    def _kill(self) -> None:
        if self._run.is_over:
            return
        self.containment().kill()
        self._arm(_KILL_AGAIN_S[min(self._kills, len(_KILL_AGAIN_S) - 1)])
        self._kills += 1
        self._run.look_at_tree()
