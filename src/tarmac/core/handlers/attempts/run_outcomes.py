"""The status that follows a report of an attempt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, TreeGone
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Booked,
    Cancelled,
    Failed,
    Running,
    Starting,
    Stopping,
    Succeeded,
    Unknown,
)

if TYPE_CHECKING:
    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.names import Failure
    from tarmac.core.model.note import Note
    from tarmac.core.model.status import Requeue


def started(status: Booked, report: JobStarted) -> Running | Stopping:
    if isinstance(status, Stopping):
        return replace(status, pid=report.pid, started_at=report.started_at)
    return Running(booking=status.booking, pid=report.pid, started_at=report.started_at)


def exited(status: Booked, report: JobExited) -> tuple[Ended, Requeue | None]:
    """How it ended, and why it is requeued if it was stopped for that."""
    if isinstance(status, Stopping) and status.requeue is not None:
        # A job that had ended before its node asked it to stop does not run again. Exit code 0 after that does not mean
        # it is done: saving its state and exiting cleanly is what it was asked for. The node knows the order; its clock
        # and ours do not. If the node cannot say, the job runs again, because a requeued job must never get lost.
        if report.was_signalled is not False and not report.timed_out:
            return _ended_by_itself(status, report), status.requeue
    elif _is_stopped(status, report):
        return Cancelled(
            booking=status.booking,
            pid=report.pid,
            started_at=report.started_at,
            ended_at=report.ended_at,
            exit_code=report.exit_code,
            signal=report.signal,
            leftovers=report.leftovers,
            paused_s=_paused_s(status, report.ended_at, report.paused_s),
        ), None
    return _ended_by_itself(status, report), None


def _is_stopped(status: Booked, report: JobExited) -> bool:
    if isinstance(status, Unknown):
        return status.stop_grace_s is not None
    # Only a stop that could not be written signals a job that is not stopping.
    return isinstance(status, Stopping) or bool(report.was_signalled)


def _ended_by_itself(status: Booked, report: JobExited) -> Succeeded | Failed | Unknown:
    if report.exit_code is None and report.signal is None:
        return replace(unknown(status, note("unknown.adopted"), report.ended_at), leftovers=report.leftovers)
    if report.exit_code == 0 and not report.timed_out:
        return Succeeded(
            booking=status.booking,
            pid=report.pid,
            started_at=report.started_at,
            ended_at=report.ended_at,
            leftovers=report.leftovers,
            paused_s=_paused_s(status, report.ended_at, report.paused_s),
        )
    return Failed(
        booking=status.booking,
        pid=report.pid,
        started_at=report.started_at,
        ended_at=report.ended_at,
        reason=_why_failed(report),
        exit_code=report.exit_code,
        signal=report.signal,
        message=note("failed.full_disk") if report.is_log_disk_full else None,
        error_line=report.error_line,
        leftovers=report.leftovers,
        paused_s=_paused_s(status, report.ended_at, report.paused_s),
    )


def _why_failed(report: JobExited) -> Failure:
    if report.timed_out:
        return "timeout"
    match report.oom:
        case "gpu":
            return "oom-gpu"
        case "host":
            return "oom-host"
        case None:
            return report.outside or ("exit" if report.signal is None else "signal")
        case _:
            assert_never(report.oom)


def not_launched(status: Booked, report: LaunchFailed) -> tuple[Ended, Requeue | None]:
    if isinstance(status, Stopping):
        return stopped_before_start(status, report.at), status.requeue
    return Failed(
        booking=status.booking,
        pid=None,
        started_at=None,
        ended_at=report.at,
        reason=report.outside or "launch",
        message=report.message,
    ), None


def stopped_before_start(status: Stopping, ended_at: float) -> Cancelled:
    """The command never ran."""
    return Cancelled(booking=status.booking, pid=None, started_at=None, ended_at=ended_at)


def lost(status: Booked, report: JobLost) -> Unknown:
    if report.is_alive:
        running_on = unknown(status, note("unknown.still_running"), None)
        return replace(running_on, paused_s=_paused_s(status, report.at))  # a pause ends here
    lost = unknown(status, report.message, report.at, report.started_at)
    return replace(lost, leftovers=report.leftovers, reason=report.loss)


def unknown(status: Booked, message: Note | str, ended_at: float | None, started_at: float | None = None) -> Unknown:
    """`started_at`: by the clock of `ended_at`, if it is known; otherwise as reported before."""
    pid, began_at = (None, None) if isinstance(status, Starting) else (status.pid, status.started_at)
    return Unknown(
        booking=status.booking,
        pid=pid,
        started_at=began_at if started_at is None else started_at,
        ended_at=ended_at,
        message=message,
        stop_grace_s=asked_grace_s(status),
        paused_s=_paused_s(status, ended_at),
    )


def _paused_s(status: Booked, ended_at: float | None, reported_s: float | None = None) -> float:
    """How long an attempt was paused in all. The node measured it on a clock that nobody sets."""
    match status:
        case Starting():
            return reported_s or 0.0
        case Running() if reported_s is None and ended_at is not None:
            return status.paused_until(ended_at)
        case _:
            return status.paused_s if reported_s is None else reported_s


def asked_grace_s(status: Booked) -> float | None:
    """The grace period of a stop that was asked for, or None."""
    match status:
        case Stopping():
            return status.grace_s
        case Unknown():
            return status.stop_grace_s
        case Starting() | Running():
            return None
        case _:
            assert_never(status)


def gone(status: Booked, report: TreeGone) -> Unknown:
    """The node reports only the newest fact: the loss of the shim may have been reported to nobody."""
    gone = unknown(status, note("unknown.gone"), report.at, report.started_at)
    return replace(gone, leftovers=report.leftovers)
