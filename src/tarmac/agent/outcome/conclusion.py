"""Puts together what the shim noticed and what the files say, into the report of a failed attempt. Pure."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Optional, cast

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, ExamineFrame, FailedRecord
    from tarmac.shared.frames.reports import ExitedFrame, Outside, ReportFrame

_KILLED = 128 + int(signal.SIGKILL)  # how a shell reports the death of its last command
_SHUTDOWN_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL)


def failed_record(report: ReportFrame) -> Optional[FailedRecord]:
    """The report, if it is of an attempt that failed and says where to look for the reason."""
    return cast("FailedRecord", report) if "remains" in report else None


def question(record: FailedRecord) -> Optional[ExamineFrame]:
    """What to examine. None if the reason is known: it was asked to stop, or reached its time limit."""
    if record.get("signalled") or record.get("timed_out"):
        return None
    return {"type": "examine", **record["remains"], "exit_code": record["exit_code"]}


def conclude(record: FailedRecord, found: Optional[ExaminedFrame]) -> ExitedFrame:
    """`found` is None if nothing was examined, or the file system does not answer."""
    report = cast("ExitedFrame", {name: value for name, value in record.items() if name != "remains"})
    if record.get("signalled") or record.get("timed_out"):
        report.pop("outside", None)
        report.pop("full_disk", None)
        return report
    seen: ExaminedFrame = {"type": "examined"} if found is None else found
    if "error_line" in seen and "error_line" not in report:
        report["error_line"] = seen["error_line"]
    if "oom" in seen and "oom" not in report:
        report["oom"] = seen["oom"]
    outside = report.pop("outside", None) or seen.get("outside") or _by_status(record)
    if "oom" in report:
        report.pop("full_disk", None)
    elif outside is not None:
        report["outside"] = outside
    return report


def _by_status(record: FailedRecord) -> Optional[Outside]:
    return "killed" if was_killed(record) else None


def was_killed(report: ExitedFrame) -> bool:
    """By SIGKILL, it or the last command of a script."""
    return report["signal"] == signal.SIGKILL or report["exit_code"] == _KILLED


def of_earlier_boot(final: ReportFrame) -> ReportFrame:
    """A final report without its reading of the boot clock, which began anew since.

    A machine that shuts down sends these signals to every process.
    """
    if final["type"] == "exited":
        report: ExitedFrame = {**final, "ended_s": None}
        if final["signal"] in _SHUTDOWN_SIGNALS and not final.get("signalled") and not final.get("timed_out"):
            report["outside"] = "reboot"
        return report
    return {**final, "at_s": None} if final["type"] == "launch_failed" else final
