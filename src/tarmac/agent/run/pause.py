"""Pausing an attempt: its process tree is frozen, by its cgroup or by SIGSTOP, until it is resumed or stopped.

The run directory says whether it is paused, so a later agent continues, and the shim stops the clock of the time limit.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Optional

from tarmac.agent.loop import Timer, log
from tarmac.agent.records.pause_record import NEVER, Pauses, pauses_of, record_of
from tarmac.agent.records.run_folder import PAUSED, START, Record
from tarmac.shared.system import boot_clock
from tarmac.shared.system.proc import send_signal

if TYPE_CHECKING:
    from tarmac.agent.run.attempt import Attempt
    from tarmac.shared.frames.reports import ExitedFrame, ReportFrame

_AGAIN_S = (0.05, 0.2, 1.0, 5.0)  # a process in a system call may take a while to stop


class Pause:
    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._pauses = NEVER
        self._timer: Optional[Timer] = None
        self._tries = 0
        self._clock_runs_on = False  # the shim is of an older version and does not know of pauses

    @property
    def is_paused(self) -> bool:
        return self._pauses.since is not None

    @property
    def pauses(self) -> Pauses:
        return self._pauses

    def follow_shim(self, start: Record) -> None:
        """A shim that an earlier agent forked; older ones wrote limits without a warning."""
        limit = start.get("limit")
        self._clock_runs_on = limit is not None and "warn_signal" not in limit

    def set(self, *, is_paused: bool, is_counted: bool = False) -> None:
        """May be repeated. An attempt that is being stopped stays as it is."""
        if self._attempt.is_over or self._attempt.escalation.is_requested:
            return
        if is_paused:
            if not self.is_paused:
                self._change(self._pauses.begun(time.monotonic(), is_counted=is_counted))
            self._tries = 0
            self._freeze()
        elif self.is_paused:
            self.lift()
            self._attempt.escalation.containment().thaw()

    def lift(self) -> None:
        """The pause is over: the clock of the time limit runs again. The caller thaws the processes."""
        if self._timer is not None:
            self._timer.cancel()
        if self.is_paused:
            self._change(self._pauses.ended(time.monotonic()))

    def resume(self) -> None:
        """Continue what an earlier agent began. It may have been killed between the record and the deed."""
        self.load()
        if self._pauses == NEVER or self._attempt.is_over:
            return
        if self.is_paused and not self._attempt.escalation.is_requested:
            self._freeze()
        else:
            self.lift()
            self._attempt.escalation.containment().thaw()

    def load(self) -> None:
        """Read what an earlier agent recorded."""
        self._pauses = pauses_of(self._attempt.folder.read(PAUSED), self._attempt.key)

    def complete(self, report: ReportFrame) -> ReportFrame:
        """Add to a report what its shim does not know."""
        if report["type"] == "started" and self._clock_runs_on:
            report = {**report, "clock_runs_on": True}
        if report["type"] == "started" and self.is_paused:
            return {**report, "paused": True}
        if report["type"] == "exited" and self._pauses != NEVER:
            return {**report, "paused_s": self._pauses.total_s(self._end_of(report))}
        return report

    def _end_of(self, report: ExitedFrame) -> float:
        """When it ended, on the clock of the pauses. An agent may learn of it hours later.

        After a reboot that is not known: a pause that was not over does not count then.
        """
        ended_s = report.get("ended_s")  # records of older shims have none
        if ended_s is None:
            return self._pauses.since or 0.0
        return time.monotonic() - max(0.0, boot_clock.seconds() - ended_s)

    def _freeze(self) -> None:
        """Until every process is frozen: one may have started another meanwhile."""
        if not self.is_paused or self._attempt.is_over:
            return
        if self._has_reached_limit():  # the shim has thawed it, so that it can save its work
            self.lift()
            self._attempt.escalation.containment().thaw()
        elif not self._attempt.escalation.containment().freeze():
            seconds = _AGAIN_S[min(self._tries, len(_AGAIN_S) - 1)]
            self._tries += 1
            self._timer = self._attempt.host.loop.after(seconds, self._freeze, self._attempt.name)

    def _has_reached_limit(self) -> bool:
        """True if the time limit passed during a pause that counts against it."""
        start = self._attempt.read(START)
        limit = start.get("limit") if start else None  # adopted processes, and records of older agents, have none
        now = time.monotonic()
        return limit is not None and now >= limit["until"] + self._pauses.extension_s(now)

    def _change(self, pauses: Pauses) -> None:
        self._pauses = pauses
        try:
            self._attempt.folder.write(PAUSED, record_of(pauses, self._attempt.key))
        except OSError as error:
            log(f"{self._attempt.name}: cannot record that it is paused or resumed: {error}")
        self._wake_shim()
        self._attempt.limit_moved()

    def _wake_shim(self) -> None:
        """It waits for the end of a child or for the time limit, whichever is first."""
        start = self._attempt.read(START)
        if start is not None and "shim_pid" in start and not self._attempt.is_shim_gone:
            send_signal(start["shim_pid"], start["shim_start_time"], signal.SIGCHLD)
