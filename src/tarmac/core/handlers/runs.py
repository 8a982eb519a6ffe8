"""Reports of attempts: started, ended, lost, missing. A final report is stored, then the node may forget it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from tarmac.core import transitions
from tarmac.core.commands import AdoptProcess, Command, ForgetRun, SignalJob, StartJob
from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, Reported, TreeGone, is_final
from tarmac.core.handlers import pausing
from tarmac.core.handlers.attempt_end import status_after
from tarmac.core.handlers.failure_breaker import count_end
from tarmac.core.handlers.taking_in import is_crowded_out, is_known, job_of, take_in
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Booked,
    Cancelled,
    Failed,
    Queued,
    RunName,
    Running,
    Starting,
    Stopping,
    Succeeded,
    Unknown,
    state_name,
)
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.events import NodeJoined, RunOrigin, RunReport
    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.leftovers import Leftovers
    from tarmac.core.model.names import Failure
    from tarmac.core.model.note import Note
    from tarmac.core.model.status import Requeue
    from tarmac.core.state import State


def apply_report(state: State, event: Reported | NodeJoined, now: float) -> list[Command]:
    if isinstance(event, Reported):
        return take_report(state, event.node, event.report, now)
    return _join(state, event, now)


def take_report(state: State, node: NodeName, report: RunReport, now: float) -> list[Command]:
    """Apply a report of an attempt. After a final one the node may forget the attempt."""
    job = job_of(state, node, run_of(report))
    commands: list[Command] = []
    if job is not None:
        if not isinstance(report, LaunchFailed) and report.started_at is not None:
            state.note_begin(job, report.started_at)  # also if it is known to run: the clock may have been set since
        before = job.status
        ended = _apply(state, job, report, now)
        if ended is not None:
            commands += count_end(state, job, ended, now)
        if isinstance(report, JobLost):
            commands += pausing.end_pause_of_lost(job, before)
    has_ended = job is not None and job.id != report.job
    if is_final(report) and (has_ended or not _is_still_open(state, report)):
        commands.append(_forget(node, report))
    return commands


def run_of(report: RunReport) -> RunName:
    return RunName(report.job, report.attempt)


def _forget(node: NodeName, report: RunReport) -> ForgetRun:
    return ForgetRun(node=node, job=report.job, attempt=report.attempt)


def _is_still_open(state: State, report: RunReport) -> bool:
    """The outcome is not stored: the report came from the wrong node, or from an attempt newer than our record.

    If the node forgot it, nothing would guard against a second start.
    """
    job = state.jobs.get(report.job)
    if job is None or job.attempt > report.attempt:
        return False
    return job.attempt < report.attempt or isinstance(job.status, Booked)


def _apply(state: State, job: Job, report: RunReport, now: float) -> Ended | None:
    """How the attempt ended by itself, if it did.

    The story says when it happened: a full disk may have delayed the commit for hours.
    """
    cause = type(report).__name__
    if not transitions.is_expected(state_name(job.status), cause):
        return None
    status = job.status
    assert isinstance(status, Booked)
    match report:
        case JobStarted():
            enter(state, job, _started(status, report), cause, now, {"pid": report.pid})
        case JobExited():
            detail = {"exit_code": report.exit_code, "signal": report.signal}
            if report.timed_out:
                detail["timed_out"] = True
            at, (ended, requeue) = min(now, report.ended_at), _exited(status, report)
            peak = report.peak_gpu_memory_bytes
            after = status_after(state, job, ended, now, requeue=requeue, peak_bytes=peak)
            enter(state, job, after, cause, at, detail)
            _tell_leftovers(state, job, report.leftovers, at)
            return ended if requeue is None else None
        case LaunchFailed():
            failed, requeue = _not_launched(status, report)
            after = status_after(state, job, failed, now, requeue=requeue)
            enter(state, job, after, cause, min(now, report.at), {"message": report.message})
            return failed if requeue is None else None
        case JobLost():
            lost = _lost(status, report)
            if lost != status:  # a node repeats it whenever it joins
                _lose(state, job, lost, cause, min(now, report.at), now, {"processes_left": report.is_alive})
                return None if report.is_alive else lost
        case TreeGone():
            gone = _gone(status, report)
            _lose(state, job, gone, cause, min(now, report.at), now, {})
            return gone
        case _:
            assert_never(report)
    return None


def _lose(state: State, job: Job, lost: Unknown, cause: str, at: float, now: float, more: dict[str, bool]) -> None:
    after = lost if lost.ended_at is None else status_after(state, job, lost, now)
    enter(state, job, after, cause, at, {"message": lost.message, **more})
    _tell_leftovers(state, job, lost.leftovers, at)


def _tell_leftovers(state: State, job: Job, left: Leftovers | None, now: float) -> None:
    if left is not None:
        processes = [{"pid": one.pid, "command": one.command} for one in left.processes]
        tell(state, job, "LeftoversEnded", now, {"count": left.count, "processes": processes})


def _started(status: Booked, report: JobStarted) -> Running | Stopping:
    if isinstance(status, Stopping):
        return replace(status, pid=report.pid, started_at=report.started_at)
    return Running(booking=status.booking, pid=report.pid, started_at=report.started_at)


def _exited(status: Booked, report: JobExited) -> tuple[Ended, Requeue | None]:
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
        return replace(_unknown(status, note("unknown.adopted"), report.ended_at), leftovers=report.leftovers)
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


def _not_launched(status: Booked, report: LaunchFailed) -> tuple[Ended, Requeue | None]:
    if isinstance(status, Stopping):
        return _stopped_before_start(status, report.at), status.requeue
    return Failed(
        booking=status.booking,
        pid=None,
        started_at=None,
        ended_at=report.at,
        reason=report.outside or "launch",
        message=report.message,
    ), None


def _stopped_before_start(status: Stopping, ended_at: float) -> Cancelled:
    """The command never ran."""
    return Cancelled(booking=status.booking, pid=None, started_at=None, ended_at=ended_at)


def _lost(status: Booked, report: JobLost) -> Unknown:
    if report.is_alive:
        running_on = _unknown(status, note("unknown.still_running"), None)
        return replace(running_on, paused_s=_paused_s(status, report.at))  # a pause ends here
    lost = _unknown(status, report.message, report.at, report.started_at)
    return replace(lost, leftovers=report.leftovers, reason=report.loss)


def _unknown(status: Booked, message: Note | str, ended_at: float | None, started_at: float | None = None) -> Unknown:
    """`started_at`: by the clock of `ended_at`, if it is known; otherwise as reported before."""
    pid, began_at = (None, None) if isinstance(status, Starting) else (status.pid, status.started_at)
    return Unknown(
        booking=status.booking,
        pid=pid,
        started_at=began_at if started_at is None else started_at,
        ended_at=ended_at,
        message=message,
        stop_grace_s=_asked_grace_s(status),
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


def _asked_grace_s(status: Booked) -> float | None:
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


def _gone(status: Booked, report: TreeGone) -> Unknown:
    """The node reports only the newest fact: the loss of the shim may have been reported to nobody."""
    gone = _unknown(status, note("unknown.gone"), report.at, report.started_at)
    return replace(gone, leftovers=report.leftovers)


def _join(state: State, event: NodeJoined, now: float) -> list[Command]:
    node = state.node(event.node)
    node.is_connected = True
    node.cpu_job_slots = event.cpu_job_slots
    node.cpus, node.memory_total_bytes = event.cpus, event.memory_total_bytes
    state.touch(node)
    before = set(node.host)
    paused = {run_of(report) for report in event.runs if isinstance(report, JobStarted) and report.is_paused}
    reported, commands = _take_runs(state, event, now)
    taken_in = [state.jobs[number] for number in node.host if number not in before]
    for job in [state.jobs[number] for number in node.host]:
        if job.id in reported:
            commands += _signal_again(job)
            commands += pausing.repeat(job, is_paused_there=job.run in paused)
        else:
            commands += _miss(state, job, taken_in, now)
    return commands


def _take_runs(state: State, event: NodeJoined, now: float) -> tuple[set[JobId], list[Command]]:
    """Apply the reports of a node that joins. Attempts that the database does not know are taken in first.

    Returns the jobs that have one of the attempts.
    """
    origins = {origin.run: origin for origin in event.origins}
    reported: set[JobId] = set()
    commands: list[Command] = []
    for report in event.runs:
        origin, is_over = origins.get(run_of(report)), is_final(report)
        if origin is not None and not is_known(state, event.node, origin):
            if is_over and _is_end_known(state, event, origin):
                commands.append(_forget(event.node, report))
                continue
            take_in(state, event, origin, report, now)
        if (job := job_of(state, event.node, run_of(report))) is not None:
            reported.add(job.id)
        commands += take_report(state, event.node, report, now)
    return reported, commands


def _is_end_known(state: State, event: NodeJoined, origin: RunOrigin) -> bool:
    """An earlier attempt of a live job, or of a job whose end is stored."""
    job = state.jobs.get(origin.run.job)
    if job is not None and job.submitted_at == origin.submitted_at:
        return job.attempt >= origin.run.attempt
    return origin.run in event.ended


def _signal_again(job: Job) -> list[Command]:
    """Repeat a stop signal that the node may have missed."""
    status = job.status
    if not isinstance(status, Booked) or (grace_s := _asked_grace_s(status)) is None:
        return []
    is_requeued = isinstance(status, Stopping) and status.requeue is not None
    return [stop_signal(job, status.booking.node, grace_s, is_requeued=is_requeued)]


def stop_signal(job: Job, node: NodeName, grace_s: float, *, is_requeued: bool = False) -> SignalJob:
    """A job that will run again is warned first, so that it can save its work."""
    return SignalJob(
        node=node,
        job=job.run.job,
        attempt=job.run.attempt,
        grace_s=grace_s,
        signal=job.spec.signal,
        warn=job.spec.warn if is_requeued else None,
    )


def adopt_process(job: Job, status: Starting, pid: int) -> AdoptProcess:
    return AdoptProcess(
        node=status.booking.node,
        job=job.id,
        attempt=job.attempt,
        pid=pid,
        start_time=status.adopted_start_time,
        uid=status.adopted_uid,
    )


def _miss(state: State, job: Job, taken_in: list[Job], now: float) -> list[Command]:
    """The node has no record of the attempt. Only one that cannot have begun is sent again."""
    status = job.status
    match status:
        case Starting(booking=booking, adopted_pid=None) if is_crowded_out(job, booking, taken_in):
            enter(state, job, Queued(since=now), "RunMissing", now, {})
        case Starting(booking=booking, adopted_pid=None):
            enter(state, job, status, "RunMissing", now, {})
            return [StartJob(job=job.id, attempt=job.attempt, booking=booking)]
        case Starting(adopted_pid=int(pid)):
            enter(state, job, status, "RunMissing", now, {})
            return [adopt_process(job, status, pid)]
        case Stopping(started_at=None):
            stopped = _stopped_before_start(status, now)
            enter(state, job, status_after(state, job, stopped, now, requeue=status.requeue), "RunMissing", now, {})
        case Running() | Stopping() | Unknown():
            _lose(state, job, _unknown(status, note("unknown.no_record"), now), "RunMissing", now, now, {})
        case _:
            pass
    return []
