"""How an attempt is stopped: a signal to its process tree, a grace period, then SIGKILL until nothing is left.

The deadline is stored in the run directory: the shim gives stragglers the same time, and a later agent continues. So is
whether the command still ran when it was asked to stop: the exit report says so, and the core decides by it.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Optional

from tarmac.agent.loop import Timer, log
from tarmac.agent.procs import containment
from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.proc_scan import ProcessTree
from tarmac.agent.records.run_folder import START, STOP, was_signalled
from tarmac.agent.run.late_limit import is_warned
from tarmac.agent.run.shim.tree_end import STRAGGLER_GRACE_S
from tarmac.shared import protocol
from tarmac.shared.system import proc

if TYPE_CHECKING:
    from tarmac.agent.run.attempt import Attempt
    from tarmac.shared.frames.reports import ReportFrame
    from tarmac.shared.frames.to_agent import WarningEntry

_KILL_AGAIN_S = (0.05, 0.2, 1.0, 5.0)


class Escalation:
    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._containment: Optional[Containment] = None
        self._deadline: Optional[float] = None  # on the monotonic clock, which all processes of one boot share
        self._signum = 0
        self._signal_at: Optional[float] = None  # when it is to be sent, if a warning was sent first
        self.has_signalled = False  # it was asked to stop while its command was still running
        self._is_stored = True  # what the stop record should say is in it
        self._timer: Optional[Timer] = None
        self._kills = 0

    def request(self, signum: int, grace_s: float, warning: Optional[WarningEntry] = None) -> None:
        """May be repeated: a shorter grace period brings the deadline forward, a longer one does not delay it.

        With a warning, that comes first, and the signal after half of the grace period.
        """
        if self._attempt.is_over:
            return
        deadline = time.monotonic() + max(0.0, grace_s)
        is_first_signal = not self.has_signalled and self._is_command_alive()
        self.has_signalled = self.has_signalled or is_first_signal
        can_warn = warning is not None and is_first_signal and grace_s > 0 and not self._is_warned()
        if can_warn:
            self._signal_at = time.monotonic() + grace_s / 2
        elif warning is None:
            self._signal_at = None  # a person does not want to wait for it
        self._signum = signum
        if self._deadline is None or deadline < self._deadline:
            self._set_deadline(deadline)
        elif is_first_signal:
            self._store()
        self._attempt.pause.lift()
        if warning is not None and can_warn:
            self.warn(warning["signal"], main_only=warning["main_only"])
            self.containment().thaw()
        if self._signal_at is not None:
            self._signal_later()
        elif grace_s > 0 and signum != signal.SIGKILL:
            self.containment().signal(signum)
        else:
            self._kill()

    def warn(self, signum: int, *, main_only: bool) -> None:
        """Send a signal that asks for nothing. Processes that are stopped or frozen stay so."""
        members = self.containment().members()
        if main_only:
            start = self._attempt.read(START)
            main = None if start is None else start["pid"]
            members = {pid: start_time for pid, start_time in members.items() if pid == main}
        self.containment().warn(members, signum)

    def _is_warned(self) -> bool:
        """Has the command been warned of its time limit already?"""
        start, now = self._attempt.read(START), time.monotonic()
        limit = None if start is None else start.get("limit")
        return limit is not None and is_warned(limit, now, self._attempt.pause.pauses.extension_s(now))

    def _signal_later(self) -> None:
        """Send the signal that follows a warning, once it is time to."""
        if self._signal_at is None or self._attempt.is_over:
            return
        left_s = self._signal_at - time.monotonic()
        if left_s > 0:
            self._attempt.host.loop.after(left_s, self._signal_later, self._attempt.name)
        else:
            self._signal_at = None
            self.containment().signal(self._signum)

    @property
    def is_requested(self) -> bool:
        return self._deadline is not None

    @property
    def is_pending(self) -> bool:
        """Requested and not completed. A process that survives repeated SIGKILLs no longer counts: it hangs in the
        kernel, and ends once it leaves it."""
        return self.is_requested and not self._attempt.is_over and self._kills < len(_KILL_AGAIN_S)

    def resume(self) -> None:
        """Continue what an earlier agent began."""
        stop = self._attempt.read(STOP)
        if stop is not None:
            self.has_signalled = was_signalled(stop)
            self._signum = stop.get("signum", 0)  # of records of older agents: it was sent
            self._signal_at = stop.get("signal_at")
            self._set_deadline(stop["deadline"])
            self._signal_later()

    def end_stragglers(self) -> None:
        """Do what the shim would have done, had it not been killed after the exit record."""
        if self._deadline is None:
            self.request(signal.SIGTERM, STRAGGLER_GRACE_S)

    def reported(self, report: ReportFrame) -> None:
        if protocol.is_final(report):
            if self._timer is not None:
                self._timer.cancel()
        elif report["type"] == "started" and self._signum and self._signal_at is None:
            # The request came during the launch, so the signal may have reached no process.
            self.containment().signal(self._signum)

    def complete(self, report: ReportFrame) -> ReportFrame:
        """Add to an exit report what its shim did not know: it is of an older version, or the disk was full."""
        if report["type"] != "exited":
            return report
        if self.has_signalled and not self._is_stored:
            return {**report, "signalled": True}
        stop = None if "signalled" in report else self._attempt.read(STOP)
        return report if stop is None else {**report, "signalled": was_signalled(stop)}

    def containment(self) -> Containment:
        if self._containment is not None:
            return self._containment
        mark = self._attempt.host.context.mark(self._attempt.key)
        start = self._attempt.read(START)
        if start is None:
            return self._below_shim(mark)
        self._containment = containment.from_record(start, mark)
        self._containment.tree.orphans = self._attempt.host.orphans
        self._containment.tree.guards = lambda: self._attempt.host.guards(self._attempt)
        return self._containment

    def _below_shim(self, mark: str) -> Containment:
        """For an attempt without a start record yet."""
        shim = self._attempt.shim_pid or 0
        stat = proc.read_stat(shim)
        return Containment(self._attempt.leaf, ProcessTree(mark, shim, stat.start_time if stat else 0))

    def _set_deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self._kills = 0
        self._store()
        self._arm(deadline - time.monotonic())

    def _store(self) -> None:
        job, attempt = self._attempt.key
        record = {
            "job": job,
            "attempt": attempt,
            "deadline": self._deadline,
            "signalled": self.has_signalled,
            "signum": self._signum,
            "signal_at": self._signal_at,
        }
        try:
            self._attempt.folder.write(STOP, record)
            self._is_stored = True
        except OSError as error:
            self._is_stored = False
            log(f"{self._attempt.name}: cannot store the request to stop it: {error}")

    def _is_command_alive(self) -> bool:
        """True also before it starts: whatever it does then, it does after the request."""
        start = self._attempt.read(START)
        return start is None or proc.is_same(start["pid"], start["start_time"])

    def _arm(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._attempt.host.loop.after(max(0.0, seconds), self._kill, self._attempt.name)

    def _kill(self) -> None:
        if self._attempt.is_over:
            return
        self.containment().kill()
        self._arm(_KILL_AGAIN_S[min(self._kills, len(_KILL_AGAIN_S) - 1)])
        self._kills += 1
        self._attempt.check_tree()
